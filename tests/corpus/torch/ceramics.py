import argparse
import numpy as np
import torch
from torch import nn, optim
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--lr", type=float, default=0.02)
parser.add_argument("--batch-size", type=int, default=32)
args = parser.parse_args()

torch.manual_seed(0)
rng = np.random.default_rng(0)
KINDS = ["bowl", "vase", "plate", "jug"]


def draw(kind):
    yy, xx = np.mgrid[0:28, 0:28]
    cy, cx, r = rng.uniform(11, 16), rng.uniform(11, 16), rng.uniform(6, 9)
    d = np.hypot(yy - cy, xx - cx)
    if kind == 0:
        img = (d < r) & (yy > cy)
    elif kind == 1:
        img = (np.abs(xx - cx) < r * (0.4 + 0.3 * np.sin((yy - cy) / 3))) & (np.abs(yy - cy) < r)
    elif kind == 2:
        img = np.abs(d - r) < 2
    else:
        img = ((np.abs(xx - cx) < r * 0.6) & (np.abs(yy - cy) < r)) | (np.abs(np.hypot(yy - cy, xx - cx - r) - 4) < 1)
    return (img + rng.normal(0, 0.2, img.shape)).astype(np.float32)


y = rng.integers(0, 4, 1200)
X = np.stack([draw(k) for k in y])[:, None]
X = (X - X.mean()) / X.std()
train = TensorDataset(torch.from_numpy(X[:1000]), torch.from_numpy(y[:1000]))
test = TensorDataset(torch.from_numpy(X[1000:]), torch.from_numpy(y[1000:]))
train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
test_loader = DataLoader(test, batch_size=200)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3)
        self.conv2 = nn.Conv2d(16, 32, 3)
        self.fc1 = nn.Linear(32 * 7 * 7, 64)
        self.fc2 = nn.Linear(64, len(KINDS))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


net = Net()
optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)

for epoch in range(args.epochs):
    net.train()
    running = 0.0
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(labels)
    net.eval()
    with torch.no_grad():
        acc = sum((net(i).argmax(1) == l).sum().item() for i, l in test_loader) / len(test)
    print(f"[{epoch + 1}] train loss {running / len(train):.4f}  test accuracy {acc:.3f}")
