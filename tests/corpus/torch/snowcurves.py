import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

torch.manual_seed(0)
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
HP = dict(days=48, latent=4, hidden=64, lr=2e-3, epochs=20, batch_size=50)


def snow_seasons(n):
    """Snow depth over a winter: onset, peak, melt date, plus gauge noise."""
    t = torch.linspace(0, 1, HP["days"])
    peak = 0.3 + 0.4 * torch.rand(n, 1)
    depth = 0.5 + torch.rand(n, 1)
    width = 0.08 + 0.15 * torch.rand(n, 1)
    late = (torch.rand(n, 1) < 0.4).float() * 0.6
    curve = depth * torch.exp(-((t - peak) ** 2) / (2 * width**2))
    curve = curve + late * torch.exp(-((t - 0.85) ** 2) / 0.004)
    return (curve + 0.03 * torch.randn(n, HP["days"])) * 2


class SnowVAE(nn.Module):
    def __init__(self, days, hidden, latent):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(days, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.to_mu = nn.Linear(hidden, latent)
        self.to_logvar = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                     nn.Linear(hidden, days))

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.to_mu(h), self.to_logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.decoder(z), mu, logvar


def vae_loss(recon, x, mu, logvar):
    rec = F.mse_loss(recon, x) / 0.1
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return rec + kld, rec, kld


train, test = snow_seasons(2000).to(DEVICE), snow_seasons(400).to(DEVICE)
loader = DataLoader(train, batch_size=HP["batch_size"], shuffle=True)
vae = SnowVAE(HP["days"], HP["hidden"], HP["latent"]).to(DEVICE)
optimizer = torch.optim.Adam(vae.parameters(), lr=HP["lr"])

for epoch in range(HP["epochs"]):
    vae.train()
    seen = 0.0
    for batch in loader:
        recon, mu, logvar = vae(batch)
        loss, rec, kld = vae_loss(recon, batch, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += loss.item()
    if (epoch + 1) % 4 == 0:
        print(f"epoch {epoch + 1:3d} | loss {seen / len(train):.4f}")

vae.eval()
with torch.no_grad():
    recon, mu, logvar = vae(test)
    r2 = 1 - ((recon - test) ** 2).sum() / ((test - train.mean(0)) ** 2).sum()
    rmse = math.sqrt(F.mse_loss(recon, test))
    draws = vae.decoder(torch.randn(400, HP["latent"]))
print(f"held-out seasons: R2 {r2:.3f}  RMSE {rmse:.3f}")
print(f"spread of peak depth: real {test.max(1).values.std():.3f}  drawn {draws.max(1).values.std():.3f}")
