# %% [markdown]
# Small VAE on the 8x8 digits; the codes are later used as features.

# %%
import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

torch.manual_seed(7)
digits = load_digits()
X = (digits.data / 16.0).astype(np.float32)
X_tr, X_te, y_tr, y_te = train_test_split(X, digits.target, test_size=0.25, random_state=7,
                                          stratify=digits.target)
train_loader = torch.utils.data.DataLoader(torch.from_numpy(X_tr), batch_size=64, shuffle=True)
test_x = torch.from_numpy(X_te)

LATENT = 8
EPOCHS = 40


# %%
class VAE(nn.Module):
    def __init__(self, d_in=64, d_hidden=128, d_z=LATENT):
        super().__init__()
        self.fc1 = nn.Linear(d_in, d_hidden)
        self.fc21 = nn.Linear(d_hidden, d_z)
        self.fc22 = nn.Linear(d_hidden, d_z)
        self.fc3 = nn.Linear(d_z, d_hidden)
        self.fc4 = nn.Linear(d_hidden, d_in)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld, bce, kld


# %%
model = VAE()
optimizer = optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(1, EPOCHS + 1):
    model.train()
    total = rec = kl = 0.0
    for batch in train_loader:
        optimizer.zero_grad()
        recon, mu, logvar = model(batch)
        loss, bce, kld = loss_function(recon, batch, mu, logvar)
        loss.backward()
        optimizer.step()
        total += loss.item()
        rec += bce.item()
        kl += kld.item()
    if epoch % 10 == 0:
        n = len(train_loader)
        print(f"epoch {epoch:3d}  loss {total / n:.4f}  recon {rec / n:.4f}  kl {kl / n:.4f}")

# %%
model.eval()
with torch.no_grad():
    mu_te, _ = model.encode(test_x)
    mu_tr, _ = model.encode(torch.from_numpy(X_tr))
    recon_te = model.decode(mu_te)
mse = F.mse_loss(recon_te, test_x).item()
mean_mse = ((X_te - X_tr.mean(0)) ** 2).mean()
probe = LogisticRegression(max_iter=2000).fit(mu_tr.numpy(), y_tr)
print(f"held-out reconstruction mse {mse:.4f}   (mean image: {mean_mse:.4f})")
print(f"held-out linear probe on codes {probe.score(mu_te.numpy(), y_te):.3f}   (chance: 0.10)")
