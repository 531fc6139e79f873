import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Linear(12, width)
        self.b = nn.Linear(width, width)
        self.c = nn.Linear(width, 3)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


def build(width):
    torch.manual_seed(width)
    return Net(width)


x = torch.randn(1500, 12, generator=torch.Generator().manual_seed(0))
y = (x[:, 0] * x[:, 1] > 0).long() + (x[:, 2] > 0.8).long()
train = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=40, shuffle=True)

model = build(16)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
print("parameters:", sum(p.numel() for p in model.parameters()))
model = build(64)
print("wider:", sum(p.numel() for p in model.parameters()))

for epoch in range(6):
    total = 0
    for xb, yb in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    accuracy = (model(x[1200:]).argmax(-1) == y[1200:]).float().mean()
    print(epoch, total / len(train), accuracy.item())
