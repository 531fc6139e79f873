import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(0)
torch.manual_seed(0)

n = 2000
area = np.random.uniform(25, 140, n)
rooms = np.round(area / 28 + np.random.normal(0, 0.6, n)).clip(1)
floor = np.random.randint(0, 9, n)
distance = np.random.gamma(2.0, 2.5, n)
price = 900 * area + 7000 * rooms + 1500 * floor - 4500 * distance + np.random.normal(0, 6000, n)

X = np.stack([area, rooms, floor, distance], axis=1)
X = (X - X.mean(0)) / X.std(0)
y = (price - price.mean()) / price.std()
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32)

X_train, X_test = X[:1600], X[1600:]
y_train, y_test = y[:1600], y[1600:]
train_loader = DataLoader(TensorDataset(X_train, y_train), batch_size=32, shuffle=True)

model = nn.Sequential(
    nn.Linear(4, 64), nn.ReLU(),
    nn.Linear(64, 32), nn.ReLU(),
    nn.Linear(32, 1),
)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(20):
    model.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        pred = model(xb)
        loss = criterion(pred, yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    if (epoch + 1) % 5 == 0:
        print(f"Epoch {epoch + 1}: train loss {running / len(train_loader):.4f}")

model.eval()
with torch.no_grad():
    pred = model(X_test).flatten()
r2 = 1 - ((pred - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()
print("test R2:", r2.item())
