from dataclasses import dataclass
import torch
import torch.nn.functional as F
from torch import nn
from sklearn.datasets import load_digits


@dataclass
class Hyper:
    latent: int = 8
    hidden: int = 128
    lr: float = 1e-3
    epochs: int = 40
    batch: int = 64


class VAE(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, h.hidden), nn.ReLU())
        self.mu = nn.Linear(h.hidden, h.latent)
        self.logvar = nn.Linear(h.hidden, h.latent)
        self.dec = nn.Sequential(nn.Linear(h.latent, h.hidden), nn.ReLU(), nn.Linear(h.hidden, 64), nn.Sigmoid())

    def forward(self, x):
        e = self.enc(x)
        mu, logvar = self.mu(e), self.logvar(e)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar) if self.training else mu
        return self.dec(z), mu, logvar


def elbo(recon, x, mu, logvar):
    rec = F.binary_cross_entropy(recon, x, reduction="sum")
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return rec + kl, kl


def batches(x, size):
    order = torch.randperm(len(x))
    for i in range(0, len(x), size):
        yield x[order[i:i + size]]


torch.manual_seed(9)
cfg = Hyper()
images = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
images = images[torch.randperm(len(images))]
train, test = images[:1400], images[1400:]

vae = VAE(cfg)
opt = torch.optim.Adam(vae.parameters(), lr=cfg.lr)
for epoch in range(cfg.epochs):
    vae.train()
    total = total_kl = 0.0
    for xb in batches(train, cfg.batch):
        opt.zero_grad()
        recon, mu, logvar = vae(xb)
        loss, kl = elbo(recon, xb, mu, logvar)
        loss.backward()
        opt.step()
        total += loss.item()
        total_kl += kl.item()
    if epoch % 8 == 0 or epoch == cfg.epochs - 1:
        print(f"epoch {epoch:2d}  loss per batch {total / (len(train) / cfg.batch):.1f}"
              f"  loss per image {total / len(train):.2f}  kl per image {total_kl / len(train):.2f}")

vae.eval()
with torch.no_grad():
    recon, _, _ = vae(test)
mse = F.mse_loss(recon, test).item()
base = F.mse_loss(train.mean(0).expand_as(test), test).item()
print(f"test reconstruction mse {mse:.4f}   mean image mse {base:.4f}")
