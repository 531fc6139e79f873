import math
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
rng = np.random.default_rng(3)


class RBFLayer(nn.Module):
    def __init__(self, in_features, n_centers):
        super().__init__()
        self.centers = nn.Parameter(torch.rand(n_centers, in_features) * 2 - 1)
        self.log_sigma = nn.Parameter(torch.full((n_centers,), math.log(0.4)))
        self.gamma = torch.exp(-2 * self.log_sigma) / 2

    def forward(self, x):
        d2 = (x.unsqueeze(1) - self.centers).pow(2).sum(-1)
        return torch.exp(-self.gamma * d2)


class RBFNet(nn.Module):
    def __init__(self, n_centers=40):
        super().__init__()
        self.rbf = RBFLayer(2, n_centers)
        self.out = nn.Linear(n_centers, 1)

    def forward(self, x):
        return self.out(self.rbf(x)).squeeze(-1)


X = rng.uniform(-1, 1, size=(2000, 2)).astype("float32")
y = (np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + 0.05 * rng.normal(size=2000)).astype("float32")
X, y = torch.from_numpy(X), torch.from_numpy(y)
train = DataLoader(TensorDataset(X[:1600], y[:1600]), batch_size=64, shuffle=True)

net = RBFNet()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
mse = nn.MSELoss()

for epoch in range(40):
    total = 0.0
    for xb, yb in train:
        opt.zero_grad()
        loss = mse(net(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    if epoch % 5 == 0:
        with torch.no_grad():
            val = mse(net(X[1600:]), y[1600:]).item()
        print(f"epoch {epoch:3d}  train {total / 1600:.4f}  val {val:.4f}")
