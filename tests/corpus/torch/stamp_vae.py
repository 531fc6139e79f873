import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(2)
S = 16


def stamps(n, seed):
    """Soft blobs and bars at varied places, as flat vectors in 0..1."""
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:S, 0:S]
    out = np.empty((n, S, S), dtype=np.float32)
    for i in range(n):
        cx, cy = g.uniform(3, S - 3, 2)
        if g.random() < 0.5:
            r = g.uniform(1.5, 4)
            out[i] = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * r * r))
        else:
            ang = g.uniform(0, np.pi)
            d = np.abs((xx - cx) * np.sin(ang) - (yy - cy) * np.cos(ang))
            out[i] = np.exp(-(d ** 2) / 2)
    return torch.from_numpy(out.reshape(n, -1))


class VAE(nn.Module):
    def __init__(self, zdim=8, h=200):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(S * S, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU())
        self.mu = nn.Linear(h, zdim)
        self.logvar = nn.Linear(h, zdim)
        self.dec = nn.Sequential(nn.Linear(zdim, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, S * S))

    def forward(self, x):
        e = self.enc(x)
        mu, logvar = self.mu(e), self.logvar(e)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def elbo_loss(logits, x, mu, logvar):
    recon = F.binary_cross_entropy_with_logits(logits, x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return recon + kl, recon, kl


train_x = stamps(4000, 0)
test_x = stamps(500, 1)
model = VAE()
opt = optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(1, 61):
    model.train()
    perm = torch.randperm(len(train_x))
    tot = rec = kls = 0.0
    n = 0
    for idx in perm.split(100):
        x = train_x[idx]
        logits, mu, logvar = model(x)
        loss, r, k = elbo_loss(logits, x, mu, logvar)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        tot += loss.item()
        rec += r.item()
        kls += k.item()
        n += 1
    if epoch % 5 == 0 or epoch == 1:
        print(f"epoch {epoch:3d} loss {tot / n:.4f} recon {rec / n:.4f} kl {kls / n:.4f}")

model.eval()
with torch.no_grad():
    e = model.enc(test_x)
    recon = torch.sigmoid(model.dec(model.mu(e)))
    err = F.mse_loss(recon, test_x).item()
    base = F.mse_loss(train_x.mean(0).expand_as(test_x), test_x).item()
    spread = recon.std(0).mean().item()
print(f"test reconstruction mse {err:.5f} (mean image: {base:.5f}), variation between reconstructions {spread:.4f}")
