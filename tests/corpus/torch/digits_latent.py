import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(11)
X = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
X_train, X_test = train_test_split(X, test_size=0.2, random_state=0)
loader = torch.utils.data.DataLoader(X_train, batch_size=64, shuffle=True)


class VAE(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 128), nn.ReLU())
        self.mu = nn.Linear(128, latent)
        self.logvar = nn.Linear(128, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 64), nn.Sigmoid())

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def vae_loss(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(60):
    model.train()
    total = 0
    for x in loader:
        optimizer.zero_grad()
        recon, mu, logvar = model(x)
        loss = vae_loss(recon, x, mu, logvar)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1:3d}  loss {total / len(loader):.4f}")

model.eval()
with torch.no_grad():
    recon, mu, _ = model(X_test)
    print(f"test reconstruction mse: {F.mse_loss(recon, X_test):.4f}")
    print(f"mse of the mean image  : {F.mse_loss(X_train.mean(0).expand_as(X_test), X_test):.4f}")
    print("std of mu per latent   :", [round(v, 3) for v in mu.std(0).tolist()])
