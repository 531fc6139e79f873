import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
x = x[torch.randperm(len(x))]
x_train, x_test = x[:1500], x[1500:]
loader = DataLoader(TensorDataset(x_train), batch_size=64, shuffle=True)
x_train.shape, x_test.shape
class VAE(nn.Module):
    def __init__(self, n_in=64, n_hidden=128, n_latent=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, n_hidden), nn.ReLU())
        self.mu = nn.Linear(n_hidden, n_latent)
        self.logvar = nn.Linear(n_hidden, n_latent)
        self.dec = nn.Sequential(nn.Linear(n_latent, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_in), nn.Sigmoid())

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        return mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar
def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
history = []
for epoch in range(40):
    model.train()
    running = 0.0
    for (xb,) in loader:
        recon, mu, logvar = model(xb)
        loss = loss_function(recon, xb, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    history.append(running / len(loader))
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {history[-1]:.4f}")
model.eval()
with torch.no_grad():
    recon, mu, _ = model(x_test)
print("reconstruction mse", F.mse_loss(recon, x_test).item())
print("mse of the average picture", F.mse_loss(x_train.mean(0).expand_as(x_test), x_test).item())
print("spread of the codes", mu.std(0))