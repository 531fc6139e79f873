import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 10)).astype(np.float32)
y = (X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=3000) > 0).astype(np.int64)


def shuffle_together(features, target, seed):
    features = features[np.random.default_rng(seed).permutation(len(features))]
    target = target[np.random.default_rng(seed).permutation(len(target))]
    return features, target


X, y = shuffle_together(X, y, seed=1)
train = TensorDataset(torch.from_numpy(X[:2400]), torch.from_numpy(y[:2400]))
train_loader = DataLoader(train, batch_size=40, shuffle=True)
X_val, y_val = torch.from_numpy(X[2400:]), torch.from_numpy(y[2400:])

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, loss.item(), (model(X_val).argmax(1) == y_val).float().mean().item())
