import numpy as np
import torch
import torch.nn as nn
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(11)
torch.manual_seed(11)

species = ["honeybee", "bumblebee", "hoverfly", "beefly", "carpenter"]
n_features = 10
centres = np.random.randn(len(species), n_features) * 1.2


def collect(per_species):
    X, y = [], []
    for k, name in enumerate(species):
        X.append(centres[k] + np.random.randn(per_species, n_features))
        y += [k] * per_species
    return np.concatenate(X), np.array(y)


X_train, y_train = collect(400)
X_test, y_test = collect(80)

scaler = StandardScaler()
X_train = torch.tensor(scaler.fit_transform(X_train), dtype=torch.float32)
X_test = torch.tensor(scaler.transform(X_test), dtype=torch.float32)
y_train = torch.tensor(y_train)
y_test = torch.tensor(y_test)

train_loader = DataLoader(TensorDataset(X_train, y_train), batch_size=32)
test_loader = DataLoader(TensorDataset(X_test, y_test), batch_size=100)

model = nn.Sequential(
    nn.Linear(n_features, 64), nn.ReLU(),
    nn.Linear(64, 32), nn.ReLU(),
    nn.Linear(32, len(species)),
)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(10):
    model.train()
    losses = []
    for xb, yb in train_loader:
        loss = loss_fn(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    model.eval()
    hits = 0
    with torch.no_grad():
        for xb, yb in test_loader:
            hits += (model(xb).argmax(dim=1) == yb).sum().item()
    print(f"epoch {epoch:2d}  loss {np.mean(losses):.4f}  accuracy {hits / len(y_test):.3f}")
