"""Variational auto-encoder on the 8x8 digits; the latent codes are judged with a k-NN classifier."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
np.random.seed(0)

X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype(np.float32)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
loader = DataLoader(TensorDataset(torch.from_numpy(X_tr)), batch_size=64, shuffle=True)


class VAE(nn.Module):
    def __init__(self, d_in=64, d_hid=128, d_z=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d_in, d_hid), nn.ReLU())
        self.mu = nn.Linear(d_hid, d_z)
        self.logvar = nn.Linear(d_hid, d_z)
        self.dec = nn.Sequential(nn.Linear(d_z, d_hid), nn.ReLU(), nn.Linear(d_hid, d_in))

    def encode(self, x):
        h = self.enc(x)
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.dec(z), mu, logvar


def loss_function(recon_logits, x, mu, logvar):
    bce = F.binary_cross_entropy_with_logits(recon_logits, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld, bce, kld


model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(60):
    model.train()
    tot = 0.0
    for (xb,) in loader:
        recon, mu, logvar = model(xb)
        loss, bce, kld = loss_function(recon, xb, mu, logvar)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1:3d}  loss {tot / len(loader):.4f}  bce {bce.item():.4f}  kld {kld.item():.4f}")

model.eval()
with torch.no_grad():
    z_tr, _ = model.encode(torch.from_numpy(X_tr))
    z_te, _ = model.encode(torch.from_numpy(X_te))
    rec = torch.sigmoid(model.dec(z_te)).numpy()
    samples = torch.sigmoid(model.dec(torch.randn(200, 8))).numpy()

knn = KNeighborsClassifier(5).fit(z_tr.numpy(), y_tr)
print(f"reconstruction MSE on test digits : {((rec - X_te) ** 2).mean():.4f}")
print(f"MSE of the mean digit             : {((X_tr.mean(0) - X_te) ** 2).mean():.4f}")
print(f"pixel std over generated samples  : {samples.std(0).mean():.4f}")
print(f"k-NN accuracy on latent codes     : {knn.score(z_te.numpy(), y_te):.3f}")
