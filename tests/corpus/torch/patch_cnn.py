import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--lr", type=float, default=1e-7)
parser.add_argument("--batch-size", type=int, default=25)
opts = parser.parse_args()

torch.manual_seed(0)
bars = torch.zeros(1000, 1, 12, 12)
kind = torch.randint(0, 2, (1000,))
for i in range(1000):
    where = int(torch.randint(0, 12, (1,)))
    if kind[i]:
        bars[i, 0, where] = 1
    else:
        bars[i, 0, :, where] = 1
bars += 0.2 * torch.randn_like(bars)

model = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU(),
    nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=opts.lr)
criterion = nn.CrossEntropyLoss()
train = DataLoader(TensorDataset(bars[:800], kind[:800]), batch_size=opts.batch_size, shuffle=True)
for epoch in range(opts.epochs):
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, loss.item(), (model(bars[800:]).argmax(1) == kind[800:]).float().mean().item())
