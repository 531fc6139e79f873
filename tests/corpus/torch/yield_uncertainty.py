"""Crop yield with an honest error bar: 100 stochastic passes per field (MC dropout)."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_friedman1

torch.manual_seed(0)
X, y = make_friedman1(n_samples=1200, n_features=8, noise=1.0, random_state=0)
X, y = X.astype("float32") * 2 - 1, y.astype("float32")
shift, scale = y[:900].mean(), y[:900].std()
x_tr, x_te = torch.tensor(X[:900]), torch.tensor(X[900:])
y_tr = torch.tensor((y[:900] - shift) / scale)[:, None]
y_te = y[900:]

net = nn.Sequential(
    nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(64, 1),
)
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-5)
net.train()
micro, accumulate = 10, 3

for epoch in range(1, 51):
    total = 0.0
    chunks = torch.randperm(900).split(micro)
    for k, idx in enumerate(chunks, start=1):
        loss = nn.functional.mse_loss(net(x_tr[idx]), y_tr[idx])
        (loss / accumulate).backward()
        total += loss.item()
        if k % accumulate == 0:
            opt.step()
            opt.zero_grad()
    if epoch % 10 == 0:
        print(f"epoch {epoch}: mse {total / len(chunks):.4f}")

# dropout stays on: the spread of the passes is the model's uncertainty
net.train()
with torch.no_grad():
    passes = torch.stack([net(x_te).squeeze(1) for _ in range(100)]).numpy() * scale + shift
centre, spread = passes.mean(0), passes.std(0)
sigma = np.sqrt(spread**2 + 1.0)
rmse = np.sqrt(np.mean((centre - y_te) ** 2))
inside = np.mean(np.abs(centre - y_te) < 1.64 * sigma)
print(f"test rmse {rmse:.2f} (noise 1.00, target std {y_te.std():.2f}); in the 90% band: {inside:.2f}")
