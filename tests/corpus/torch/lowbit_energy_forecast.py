"""Upper-quantile forecast of building energy use with 4-bit weights (quantisation aware training).

Has three hand written backward passes: a fused SiLU that keeps only its input, a pinball loss,
and a fake quantiser whose clamp lets the gradient through so saturated weights can come back.
"""
import numpy as np
import torch
from torch import nn
from torch.autograd import Function, gradcheck

QUANTILE = 0.9
torch.manual_seed(5)


class FusedSiLU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad * (s + x * s * (1 - s))


class Pinball(Function):
    @staticmethod
    def forward(ctx, pred, target, q):
        err = target - pred
        ctx.save_for_backward(err)
        ctx.q = q
        return torch.maximum(q * err, (q - 1) * err).mean()

    @staticmethod
    def backward(ctx, grad):
        (err,) = ctx.saved_tensors
        d = torch.where(err > 0, -ctx.q, 1 - ctx.q) / err.numel()
        return grad * d.to(err.dtype), None, None


class FakeQuant(Function):
    """round + clamp forward, identity backward (also outside the range)."""

    @staticmethod
    def forward(ctx, w, scale):
        return torch.clamp(torch.round(w / scale), -8, 7) * scale

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class QLinear(nn.Linear):
    def forward(self, x):
        scale = self.weight.detach().std() * 3 / 7
        return nn.functional.linear(x, FakeQuant.apply(self.weight, scale), self.bias)


class Forecaster(nn.Module):
    def __init__(self, n_in, width=48):
        super().__init__()
        self.a, self.b, self.c = QLinear(n_in, width), QLinear(width, width), nn.Linear(width, 1)

    def forward(self, x):
        h = FusedSiLU.apply(self.a(x))
        h = FusedSiLU.apply(self.b(h))
        return self.c(h).squeeze(-1)


def buildings(n, rng):
    hour, temp = rng.uniform(0, 24, n), rng.normal(12, 8, n)
    occ, area = rng.beta(2, 2, n), rng.uniform(0.5, 3.0, n)
    mean = area * (2 + 1.5 * np.sin((hour - 8) * np.pi / 12) * occ + 0.08 * np.maximum(16 - temp, 0)
                   + 0.05 * np.maximum(temp - 22, 0))
    load = mean + rng.exponential(0.3 + 0.6 * occ, n)  # skewed, spread grows with occupancy
    feats = np.c_[np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), temp, occ, area]
    return feats.astype(np.float32), load.astype(np.float32)


def main():
    probe = torch.randn(12, dtype=torch.double, requires_grad=True)
    goal = torch.randn(12, dtype=torch.double)
    assert gradcheck(FusedSiLU.apply, (probe,))
    assert gradcheck(lambda p: Pinball.apply(p, goal, QUANTILE), (probe,))

    rng = np.random.default_rng(5)
    xtr, ytr = buildings(4000, rng)
    xte, yte = buildings(1500, rng)
    mu, sd = xtr.mean(0), xtr.std(0)
    xtr, xte = torch.from_numpy((xtr - mu) / sd), torch.from_numpy((xte - mu) / sd)
    ym, ys = float(ytr.mean()), float(ytr.std())
    ytr_s, yte_s = torch.from_numpy((ytr - ym) / ys), torch.from_numpy((yte - ym) / ys)

    model = Forecaster(xtr.shape[1])
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
    epochs = 40
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for ep in range(epochs):
        tot = 0.0
        for idx in torch.randperm(len(xtr)).split(128):
            loss = Pinball.apply(model(xtr[idx]), ytr_s[idx], QUANTILE)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(idx)
        sched.step()
        if ep % 10 == 9:
            print(f"epoch {ep + 1}: pinball {tot / len(xtr):.4f}")

    with torch.no_grad():
        pred = model(xte)
        score = Pinball.apply(pred, yte_s, QUANTILE).item() * ys
        flat = torch.full_like(yte_s, float(torch.quantile(ytr_s, QUANTILE)))
        base = Pinball.apply(flat, yte_s, QUANTILE).item() * ys
        cover = (yte_s <= pred).float().mean().item()
    print(f"test pinball {score:.4f} kWh, constant quantile {base:.4f} kWh, coverage {cover:.3f} (aim {QUANTILE})")


if __name__ == "__main__":
    main()
