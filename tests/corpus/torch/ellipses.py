import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(42)
SIZE, Z = 16, 6


def draw(n):
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    cx, cy = (torch.rand(2, n, 1, 1) * 8 + 4)
    rx, ry = (torch.rand(2, n, 1, 1) * 3 + 1.5)
    d = ((xx - cx) / rx) ** 2 + ((yy - cy) / ry) ** 2
    return torch.sigmoid(6 * (1 - d)).view(n, -1)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(SIZE * SIZE, 200), nn.ReLU(), nn.Linear(200, 100), nn.ReLU())
        self.mu = nn.Linear(100, Z)
        self.logvar = nn.Linear(100, Z)
        self.dec = nn.Sequential(nn.Linear(Z, 100), nn.ReLU(), nn.Linear(100, 200), nn.ReLU(),
                                 nn.Linear(200, SIZE * SIZE), nn.Sigmoid())

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld, bce, kld


train_x, test_x = draw(6000), draw(500)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1, 13):
    model.train()
    sums = torch.zeros(3)
    batches = train_x[torch.randperm(len(train_x))].split(100)
    for x in batches:
        optimizer.zero_grad()
        recon, mu, logvar = model(x)
        loss, bce, kld = loss_function(recon, x, mu, logvar)
        loss.backward()
        optimizer.step()
        sums += torch.stack([loss, bce, kld]).detach()
    if epoch % 3 == 0:
        total, rec, kl = (sums / len(batches)).tolist()
        print(f"epoch {epoch:2d}  loss {total:.4f}  reconstruction {rec:.4f}  kl {kl:.4f}")

model.eval()
with torch.no_grad():
    recon, mu, _ = model(test_x)
mse = F.mse_loss(recon, test_x).item()
blank = F.mse_loss(train_x.mean(0).expand_as(test_x), test_x).item()
print(f"test mse {mse:.4f} (mean picture: {blank:.4f}); spread of the codes {mu.std(0).mean().item():.4f}")
