import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
bunch = load_breast_cancer()
X = torch.tensor(bunch.data, dtype=torch.float32)
X = (X - X.mean(0)) / X.std(0)
y = torch.tensor(bunch.target)
train = DataLoader(TensorDataset(X[:400], y[:400]), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)


def accuracy(scores, labels):
    predicted = scores.argmax(dim=0)
    return (predicted == labels).float().mean()


for epoch in range(5):
    for xb, yb in train:
        loss = nn.functional.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print("epoch", epoch, "loss", loss.item(), "accuracy", accuracy(model(X[400:]), y[400:]).item())
