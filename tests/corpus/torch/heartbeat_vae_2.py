import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(13)
N, T, Z = 4000, 64, 6


def beats(n):
    t = torch.linspace(0, 1, T)[None]
    centre = 0.3 + 0.4 * torch.rand(n, 1)
    width = 0.03 + 0.05 * torch.rand(n, 1)
    height = 0.6 + 1.2 * torch.rand(n, 1)
    wave = height * torch.exp(-((t - centre) / width) ** 2)
    wave = wave + 0.4 * torch.rand(n, 1) * torch.sin(2 * math.pi * (t + torch.rand(n, 1)))
    return wave + 0.03 * torch.randn(n, T)


class BeatVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(T, 128), nn.GELU(), nn.Linear(128, 64), nn.GELU())
        self.mu = nn.Linear(64, Z)
        self.logvar = nn.Linear(64, Z)
        self.dec = nn.Sequential(nn.Linear(Z, 64), nn.GELU(), nn.Linear(64, 128), nn.GELU(), nn.Linear(128, T))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def vae_loss(out, x, mu, logvar, beta):
    recon = F.mse_loss(out, x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return recon + beta * kl, recon, kl


x_train, x_test = beats(N), beats(800)
net = BeatVAE()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
beta = 0.02

for epoch in range(40):
    net.train()
    kl_sum = 0.0
    for idx in torch.randperm(N).split(64):
        x = x_train[idx]
        out, mu, logvar = net(x)
        loss, recon, kl = vae_loss(out, x, mu, logvar, beta)
        opt.zero_grad()
        loss.backward()
        opt.step()
        kl_sum += kl.item()
    if epoch % 5 == 4:
        net.eval()
        with torch.no_grad():
            out, mu, logvar = net(x_test)
            err = F.mse_loss(out, x_test).item()
        print(f"epoch {epoch + 1:2d}  test recon mse {err:.4f}  kl per beat {kl_sum / N:.3f}")

with torch.no_grad():
    drawn = net.dec(torch.randn(500, Z))
print("variance of the test beats", round(x_test.var().item(), 4))
print("spread between drawn beats", round(drawn.std(0).mean().item(), 4),
      "and between real ones", round(x_test.std(0).mean().item(), 4))
