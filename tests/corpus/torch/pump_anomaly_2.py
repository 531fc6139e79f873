"""
Anomaly detection for pump vibration spectra: an autoencoder with tied weights trained on normal
machines only, optimised with a sign-momentum rule. The reconstruction error is the score.
"""
import numpy as np
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import nn
from torch.nn import functional as F

D, CODE = 64, 6


def spectra(n, rng, faulty=False):
    f = np.arange(D)
    speed = rng.uniform(8, 13, n)[:, None]
    load = rng.uniform(0.5, 1.5, n)[:, None]
    s = np.zeros((n, D))
    for h in range(1, 5):
        s += load / h * np.exp(-0.5 * ((f - h * speed) / 1.6) ** 2)
    s += 0.2 * load * np.exp(-f / 20)
    if faulty:
        side = rng.uniform(3.5, 4.5, n)[:, None]
        amp = rng.uniform(0.04, 0.15, n)[:, None]
        for h in (1, 2, 3):
            s += amp * np.exp(-0.5 * ((f - h * speed - side) / 1.0) ** 2)
    return (s + rng.normal(0, 0.03, (n, D))).astype(np.float32)


class SignMomentum(torch.optim.Optimizer):
    """Lion: the update is the sign of an interpolated momentum."""

    def __init__(self, params, lr=3e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(m.mul(b1).add(p.grad, alpha=1 - b1).sign_(), alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


class TiedAutoencoder(nn.Module):
    def __init__(self, sizes=(D, 96, 32, CODE)):
        super().__init__()
        self.weights = nn.ParameterList(
            [nn.Parameter(torch.empty(o, i)) for i, o in zip(sizes[:-1], sizes[1:])])
        for w in self.weights:
            nn.init.orthogonal_(w)
        self.enc_bias = nn.ParameterList([nn.Parameter(torch.zeros(o)) for o in sizes[1:]])
        self.dec_bias = nn.ParameterList([nn.Parameter(torch.zeros(i)) for i in sizes[:-1]])

    def forward(self, x):
        h = x
        for k, (w, b) in enumerate(zip(self.weights, self.enc_bias)):
            h = F.linear(h, w, b)
            if k < len(self.weights) - 1:
                h = F.silu(h)
        for k in reversed(range(len(self.weights))):
            h = F.linear(h, self.weights[k].t(), self.dec_bias[k])
            if k > 0:
                h = F.silu(h)
        return h


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    train = torch.from_numpy(spectra(4000, rng))
    val = torch.from_numpy(spectra(500, rng))
    test = torch.from_numpy(np.concatenate([spectra(600, rng), spectra(120, rng, faulty=True)]))
    labels = np.r_[np.zeros(600), np.ones(120)]
    mu = train.mean(0)
    sd = train.std()                      # one scale for the whole spectrum keeps its shape
    train, val, test = [(t - mu) / sd for t in (train, val, test)]

    net = TiedAutoencoder()
    opt = SignMomentum(net.parameters(), lr=1e-3, weight_decay=0.1)
    epochs = 60
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: (1 - e / epochs) ** 1.5 + 0.01)
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(train)).split(100):
            clean = train[idx]
            noisy = clean + 0.1 * torch.randn_like(clean)
            loss = F.mse_loss(net(noisy), clean)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        sched.step()
        if epoch % 10 == 9:
            with torch.no_grad():
                v = F.mse_loss(net(val), val).item()
            print(f"epoch {epoch + 1:3d}  train {total / len(train):.4f}  val {v:.4f}  (mean spectrum "
                  f"{val.pow(2).mean():.4f})")

    with torch.no_grad():
        score = (net(test) - test).pow(2).mean(1).numpy()
    energy = test.pow(2).mean(1).numpy()
    print(f"test AUC {roc_auc_score(labels, score):.3f}  AP {average_precision_score(labels, score):.3f}  "
          f"(energy alone: AUC {roc_auc_score(labels, energy):.3f})")


if __name__ == "__main__":
    main()
