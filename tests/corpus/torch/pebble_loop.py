# Predict a mean and a spread: the noise grows with x. The mean is fitted first, then the spread, then both.
import math

import torch
import torch.nn as nn

torch.manual_seed(12)
n = 3000
x = torch.rand(n, 1) * 4 - 2
sigma = 0.01 + 0.05 * (x + 2) / 4
y = 0.3 * torch.sin(3 * x) + 0.1 * x + sigma * torch.randn(n, 1)
xtr, ytr, xte, yte, ste = x[:2400], y[:2400], x[2400:], y[2400:], sigma[2400:]


class MeanVar(nn.Module):
    def __init__(self, hid=48):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(1, hid), nn.Tanh(), nn.Linear(hid, hid), nn.Tanh(), nn.Linear(hid, 1))
        self.log_var = nn.Sequential(nn.Linear(1, hid), nn.Tanh(), nn.Linear(hid, 1))
        nn.init.zeros_(self.log_var[-1].weight)
        nn.init.constant_(self.log_var[-1].bias, -4.0)

    def forward(self, x):
        return self.mean(x), self.log_var(x).clamp(-12, 4)


def nll(mu, log_var, y):
    return 0.5 * (log_var + (y - mu) ** 2 / log_var.exp()).mean()


net = MeanVar()
phases = [("mean", 30, 5e-3), ("log_var", 20, 5e-3), ("both", 30, 1e-3)]
for name, epochs, lr in phases:
    for part, module in (("mean", net.mean), ("log_var", net.log_var)):
        module.requires_grad_(name in (part, "both"))
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=lr)
    for epoch in range(1, epochs + 1):
        order = torch.randperm(len(xtr))
        total = 0.0
        for idx in order.split(60):
            mu, log_var = net(xtr[idx])
            loss = nn.functional.mse_loss(mu, ytr[idx]) if name == "mean" else nll(mu, log_var, ytr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 10 == 0:
            with torch.no_grad():
                mu, log_var = net(xte)
            std = (0.5 * log_var).exp()
            inside = ((yte - mu).abs() < 1.96 * std).float().mean().item()
            print(f"{name:8s} {epoch:3d} loss {total / len(xtr):8.4f} | test nll {nll(mu, log_var, yte):7.4f} "
                  f"rmse {(mu - yte).pow(2).mean().sqrt():.4f} in 95% band {inside:.3f}")
ideal = 0.5 * (2 * ste.log() + 1).mean().item()
print(f"best nll possible (without the constant): {ideal:.4f}")
print(f"corr of predicted and true spread: {torch.corrcoef(torch.stack([std.flatten(), ste.flatten()]))[0, 1]:.3f}")
