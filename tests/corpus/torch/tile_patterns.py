# %% [markdown]
# Variational autoencoder on 14x14 two-tone tiles (bars, rings, crosses)

# %%
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
rng = np.random.default_rng(1)
N = 14
yy, xx = np.mgrid[:N, :N]


def tile():
    cx, cy = rng.uniform(4, 9, 2)
    kind = rng.integers(3)
    if kind == 0:
        ang = rng.uniform(0, np.pi)
        m = np.abs((xx - cx) * np.sin(ang) - (yy - cy) * np.cos(ang)) < 1.6
    elif kind == 1:
        m = np.abs(np.hypot(xx - cx, yy - cy) - rng.uniform(2.5, 4.5)) < 1.0
    else:
        m = (np.abs(xx - cx) < 1.2) | (np.abs(yy - cy) < 1.2)
    return m.astype(np.float32)


train = torch.from_numpy(np.stack([tile().ravel() for _ in range(5000)]))
test = torch.from_numpy(np.stack([tile().ravel() for _ in range(800)]))

# %%
class VAE(nn.Module):
    def __init__(self, d=8, h=192):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(N * N, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU())
        self.mu = nn.Linear(h, d)
        self.logvar = nn.Linear(h, d)
        self.dec = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, N * N))

    def encode(self, x):
        h = self.enc(x)
        return self.mu(h), self.logvar(h)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.dec(z), mu, logvar


def objective(logits, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(logits, x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(dim=1).mean()
    return rec + kl, rec, kl


# %%
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
for epoch in range(25):
    vae.train()
    tot = np.zeros(3)
    batches = torch.randperm(len(train)).split(64)
    for idx in batches:
        x = train[idx]
        out = objective(*(lambda o: (o[0], x, o[1], o[2]))(vae(x)))
        opt.zero_grad()
        out[0].backward()
        opt.step()
        tot += [t.item() for t in out]
    if epoch % 4 == 0:
        print("epoch %2d  loss %.4f  rec %.4f  kl %.4f" % (epoch, *(tot / len(batches))))

# %%
vae.eval()
with torch.no_grad():
    mu, logvar = vae.encode(test)
    rebuilt = (vae.dec(mu) > 0).float()
    err = (rebuilt != test).float().mean().item()
    base = ((train.mean(0) > 0.5).float() != test).float().mean().item()
    active = int((mu.var(0) > 0.05).sum())
print(f"pixels rebuilt wrong: {err:.4f} (the mean tile: {base:.4f});  active latents {active} of {mu.shape[1]}")
