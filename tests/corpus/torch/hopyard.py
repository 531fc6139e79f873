import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)
np.random.seed(0)

# hop yield (t/ha) from rainfall, sun hours, soil pH, age of the plants, trellis height
n = 1500
rain = np.random.normal(620, 90, n)
sun = np.random.normal(1750, 160, n)
ph = np.random.normal(6.4, 0.4, n)
age = np.random.randint(1, 18, n)
height = np.random.uniform(5.0, 7.5, n)
crop = (1.6 + 0.0016 * (rain - 600) + 0.0011 * (sun - 1700) - 0.9 * (ph - 6.3) ** 2
        + 0.35 * np.log(age) + 0.15 * (height - 6) + np.random.normal(0, 0.08, n))

X = np.stack([rain, sun, ph, age, height], 1)
X = (X - X[:1200].mean(0)) / X[:1200].std(0)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(crop, dtype=torch.float32)

loader = DataLoader(TensorDataset(X[:1200], y[:1200]), batch_size=32, shuffle=True)
X_test, y_test = X[1200:], y[1200:]

model = nn.Sequential(
    nn.Linear(5, 64), nn.ReLU(),
    nn.Linear(64, 64), nn.ReLU(),
    nn.Linear(64, 1),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
huber_delta = 0.5


def huber(pred, target):
    err = (pred - target).abs()
    quad = torch.clamp(err, max=huber_delta)
    return (0.5 * quad ** 2 + huber_delta * (err - quad)).mean()


for epoch in range(40):
    model.train()
    running = 0.0
    for xb, yb in loader:
        pred = model(xb)
        loss = huber(pred, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    if (epoch + 1) % 5 == 0:
        print(f"epoch {epoch + 1}: loss {running / len(loader):.4f}")

model.eval()
with torch.no_grad():
    p = model(X_test).flatten()
mae = (p - y_test).abs().mean().item()
r2 = 1 - ((p - y_test) ** 2).sum().item() / ((y_test - y_test.mean()) ** 2).sum().item()
print(f"test MAE {mae:.3f} t/ha, R2 {r2:.3f}")
