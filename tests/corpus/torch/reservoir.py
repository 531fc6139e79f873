from __future__ import annotations

import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def mackey_glass(n: int, tau: int = 17, seed: int = 0) -> torch.Tensor:
    g = torch.Generator().manual_seed(seed)
    x = [1.2 + 0.1 * torch.randn(1, generator=g).item() for _ in range(tau + 1)]
    for _ in range(n * 2 + 200):
        old, cur = x[-tau - 1], x[-1]
        x.append(cur + 0.5 * (0.2 * old / (1 + old ** 10) - 0.1 * cur) * 1.0)
    return torch.tensor(x[200::2][:n], dtype=torch.float64)


class EchoState(nn.Module):
    """Fixed random recurrent layer. Only the two read-outs (mean and log variance) are trained."""

    def __init__(self, size: int = 200, radius: float = 0.95, leak: float = 0.5):
        super().__init__()
        w = torch.randn(size, size) * (torch.rand(size, size) < 0.1)
        w = w * (radius / torch.linalg.eigvals(w).abs().max())
        self.register_buffer("w", w)
        self.register_buffer("w_in", torch.rand(size, 2) * 2 - 1)
        self.leak = leak
        self.mean = nn.Linear(size, 1)
        self.log_var = nn.Linear(size, 1)
        nn.init.zeros_(self.mean.weight)
        nn.init.zeros_(self.log_var.weight)

    @torch.no_grad()
    def states(self, u: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(self.w.size(0))
        out = []
        for v in u:
            inp = torch.stack([v, torch.ones(())])
            h = (1 - self.leak) * h + self.leak * torch.tanh(self.w @ h + self.w_in @ inp)
            out.append(h)
        return torch.stack(out)

    def forward(self, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.mean(h).squeeze(1), self.log_var(h).squeeze(1)


def gaussian_nll(mu, log_var, y):
    return 0.5 * (log_var + (y - mu) ** 2 * torch.exp(-log_var) + math.log(2 * math.pi)).mean()


def main() -> None:
    torch.manual_seed(4)
    torch.set_default_dtype(torch.float64)
    horizon, washout, n_train = 6, 100, 2500
    s = mackey_glass(3600)
    s = (s - s[:n_train].mean()) / s[:n_train].std()
    s = s + 0.02 * torch.randn(len(s))

    net = EchoState()
    h = net.states(s[:-horizon])
    target = s[horizon:]
    tr, te = slice(washout, n_train), slice(n_train + horizon, None)

    opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, history_size=20, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        mu, lv = net(h[tr])
        loss = gaussian_nll(mu, lv, target[tr])
        loss = loss + 1e-5 * (net.mean.weight.pow(2).sum() + net.log_var.weight.pow(2).sum())
        loss.backward()
        return loss

    for it in range(60):
        loss = opt.step(closure)
        if it % 6 == 0 or it == 59:
            with torch.no_grad():
                mu, lv = net(h[te])
                nll = gaussian_nll(mu, lv, target[te])
                err = F.mse_loss(mu, target[te]).sqrt()
                inside = ((target[te] - mu).abs() < 1.96 * (0.5 * lv).exp()).double().mean()
            print(f"iter {it:3d} objective {loss.item():8.4f} | test nll {nll:7.4f} rmse {err:.4f} 95% band covers {inside:.3f}")
    copy_err = F.mse_loss(s[:-horizon][te], target[te]).sqrt()
    print(f"repeating the last value would give rmse {copy_err:.4f}")


if __name__ == "__main__":
    main()
