import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def build(depth=10, width=32):
    layers = [nn.Linear(64, width), nn.Sigmoid()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.Sigmoid()]
    layers.append(nn.Linear(width, 10))
    return nn.Sequential(*layers)


torch.manual_seed(0)
data = load_digits()
x = torch.tensor(data.data / 16.0, dtype=torch.float32)
y = torch.tensor(data.target)
dl = DataLoader(TensorDataset(x[:1500], y[:1500]), batch_size=50, shuffle=True)
net = build()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(5):
    for xb, yb in dl:
        loss = nn.functional.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, loss.item(), (net(x[1500:]).argmax(1) == y[1500:]).float().mean().item())
