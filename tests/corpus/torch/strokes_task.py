# variational autoencoder of digits: summed over pixels, averaged over rows
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(19)
x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
x = x[torch.randperm(len(x))]
train, test = x[:1500], x[1500:]


class VAE(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 128), nn.ReLU())
        self.mu, self.logvar = nn.Linear(128, latent), nn.Linear(128, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, v):
        h = self.enc(v)
        mu, logvar = self.mu(h), self.logvar(h).clamp(-8, 8)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if self.training else mu
        return self.dec(z), mu, logvar


def elbo(logits, v, mu, logvar, beta):
    rec = F.binary_cross_entropy_with_logits(logits, v, reduction="sum") / len(v)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum() / len(v)
    return rec + beta * kl, rec, kl


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(40):
    model.train()
    beta = min(1.0, epoch / 15) * 0.5
    for v in train[torch.randperm(len(train))].split(50):
        logits, mu, logvar = model(v)
        loss, rec, kl = elbo(logits, v, mu, logvar, beta)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 8 == 7:
        model.eval()
        with torch.no_grad():
            logits, mu, logvar = model(test)
            mse = F.mse_loss(torch.sigmoid(logits), test).item()
        print(f"epoch {epoch + 1:2d} beta {beta:.2f} loss {loss.item():.2f} (rec {rec.item():.2f}, kl {kl.item():.2f}) test mse {mse:.4f}")
print(f"mse of the mean image: {F.mse_loss(train.mean(0).expand_as(test), test):.4f}")
