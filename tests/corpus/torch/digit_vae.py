import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = nn.Linear(64, 48)
        self.mu, self.logvar = nn.Linear(48, latent), nn.Linear(48, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 48), nn.ReLU(), nn.Linear(48, 64))

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return torch.sigmoid(self.dec(z)), mu, logvar


def elbo(out, x, mu, logvar):
    rec = F.binary_cross_entropy(out, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (rec + kld) / len(x)


torch.manual_seed(0)
x = torch.tensor(load_digits().data / 16, dtype=torch.float32)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
for epoch in range(8):
    for b in x[torch.randperm(len(x))].split(64):
        opt.zero_grad()
        out, mu, logvar = vae(b)
        loss = elbo(out, b, mu, logvar)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
