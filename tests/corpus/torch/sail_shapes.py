"""Convolutional VAE on silhouettes of sails; latent walk and active units are what we look at."""
import argparse
import torch
from torch import nn
from torch.nn import functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--latent", type=int, default=8)
ap.add_argument("--beta", type=float, default=1.0)
ap.add_argument("--epochs", type=int, default=12)
ap.add_argument("--lr", type=float, default=2e-3)
cfg = ap.parse_args()
torch.manual_seed(8)
S = 20


def sails(n):
    g = torch.linspace(0, 1, S)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    mast = 0.25 + 0.5 * torch.rand(n, 1, 1)
    top = 0.05 + 0.25 * torch.rand(n, 1, 1)
    foot = 0.75 + 0.2 * torch.rand(n, 1, 1)
    main = 0.1 + 0.4 * torch.rand(n, 1, 1)
    jib = 0.1 + 0.4 * torch.rand(n, 1, 1)
    u = ((yy - top) / (foot - top))
    inside = (u > 0) & (u < 1)
    right = inside & (xx > mast) & (xx < mast + main * u)
    left = inside & (xx < mast) & (xx > mast - jib * u ** 2)
    img = right.float() + 0.6 * left.float()
    return (img + 0.03 * torch.randn(n, S, S)).clamp(0, 1).unsqueeze(1)


class VAE(nn.Module):
    def __init__(self, z):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 25, 128), nn.ReLU())
        self.mu, self.logvar = nn.Linear(128, z), nn.Linear(128, z)
        self.dec = nn.Sequential(
            nn.Linear(z, 128), nn.ReLU(), nn.Linear(128, 32 * 25), nn.ReLU(), nn.Unflatten(1, (32, 5, 5)),
            nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Sigmoid())

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if self.training else mu
        return self.dec(z), mu, logvar


def elbo(xhat, x, mu, logvar):
    recon = F.mse_loss(xhat, x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return recon + cfg.beta * kl, recon, kl


train, val = sails(4000), sails(500)
vae = VAE(cfg.latent)
opt = torch.optim.Adam(vae.parameters(), lr=cfg.lr)
for epoch in range(cfg.epochs):
    vae.train()
    r_sum = k_sum = 0.0
    for b in torch.randperm(len(train)).split(64):
        xhat, mu, logvar = vae(train[b])
        loss, r, k = elbo(xhat, train[b], mu, logvar)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        r_sum += r.item() * len(b)
        k_sum += k.item() * len(b)
    vae.eval()
    with torch.no_grad():
        xhat, mu, _ = vae(val)
    mse = F.mse_loss(xhat, val).item()
    fve = 1 - mse / F.mse_loss(train.mean(0, keepdim=True).expand_as(val), val).item()
    active = int((mu.var(0) > 0.01).sum())
    print(f"{epoch:2d} recon {r_sum / len(train):.3f} kl {k_sum / len(train):.3f} | val mse {mse:.4f} explained {fve:.3f} active {active}/{cfg.latent}")
