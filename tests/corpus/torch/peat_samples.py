# carbon content of peat cores from NIR spectra; whole-set gradient, taken in chunks to save memory
import numpy as np
import torch
from torch import nn

torch.manual_seed(6)
rng = np.random.default_rng(6)
BANDS, N = 120, 900

wl = np.linspace(0, 1, BANDS)
peaks = np.stack([np.exp(-((wl - c) / w) ** 2) for c, w in [(.2, .08), (.45, .05), (.7, .1), (.85, .04)]])
amounts = rng.uniform(0, 1, (N, 4))
spectra = amounts @ peaks + rng.normal(0, .02, (N, BANDS)) + rng.normal(0, .2, (N, 1)) * wl
carbon = 30 + 20 * amounts[:, 1] - 8 * amounts[:, 3] + 6 * amounts[:, 0] * amounts[:, 2]

X = torch.tensor(spectra, dtype=torch.float32)
y = torch.tensor(carbon, dtype=torch.float32)[:, None]
X_tr, X_te, y_tr, y_te = X[:700], X[700:], y[:700], y[700:]
mu, sd = X_tr.mean(0), X_tr.std(0)
y_mu, y_sd = y_tr.mean(), y_tr.std()
X_tr, X_te = (X_tr - mu) / sd, (X_te - mu) / sd
z_tr = (y_tr - y_mu) / y_sd

net = nn.Sequential(nn.Linear(BANDS, 40), nn.Tanh(), nn.Linear(40, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.95, nesterov=True)
mse = nn.MSELoss(reduction="sum")

for epoch in range(400):
    total = 0.0
    for xb, zb in zip(X_tr.split(64), z_tr.split(64)):
        loss = mse(net(xb), zb)
        (loss / len(X_tr)).backward()
        total += loss.item()
    opt.step()
    opt.zero_grad()
    if (epoch + 1) % 50 == 0:
        with torch.no_grad():
            pred = net(X_te) * y_sd + y_mu
        rmse = (pred - y_te).pow(2).mean().sqrt().item()
        r2 = 1 - (pred - y_te).pow(2).sum() / (y_te - y_te.mean()).pow(2).sum()
        print(f"epoch {epoch + 1:3d} train mse {total / len(X_tr):.4f} test rmse {rmse:.3f} R2 {r2:.3f}")
