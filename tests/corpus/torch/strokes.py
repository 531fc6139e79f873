"""Reuse a digit network (0-6) for the digits 7-9 with 60 labelled images; only the last layer is learned."""
import torch
from torch import nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32).view(-1, 1, 8, 8) / 16
y = torch.tensor(y)
old = y < 7

backbone = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten())
net = nn.Sequential(backbone, nn.Linear(512, 7))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(6):
    for xb, yb in DataLoader(TensorDataset(X[old], y[old]), batch_size=64, shuffle=True):
        loss = nn.functional.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
print("pretraining, last loss %.4f" % loss.item())

# ---- the new task
Xn, yn = X[~old], y[~old] - 7
perm = torch.randperm(len(Xn))
few, rest = perm[:60], perm[60:]
loader = DataLoader(TensorDataset(Xn[few], yn[few]), batch_size=5, shuffle=True)

for p in backbone.parameters():
    p.requires_grad_(False)
head = nn.Linear(512, 3)
nn.init.zeros_(head.weight)
model = nn.Sequential(backbone, head)
model.eval()                       # keep the statistics of the large data set, there is no dropout

optimizer = torch.optim.SGD(head.parameters(), lr=0.5, weight_decay=1e-3)
ACCUM = 4


def score():
    with torch.no_grad():
        return (model(Xn[rest]).argmax(1) == yn[rest]).float().mean().item()


print("before: accuracy %.3f" % score())
for epoch in range(1, 41):
    total = 0.0
    for i, (xb, yb) in enumerate(loader, start=1):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(xb), yb)
        (loss / ACCUM).backward()
        total += loss.item()
        if i % ACCUM == 0:
            optimizer.step()
            optimizer.zero_grad()
    if epoch % 8 == 0:
        print(f"epoch {epoch:2d}  loss {total / len(loader):.4f}  accuracy {score():.3f}")
