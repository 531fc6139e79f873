import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(42)
rng = np.random.default_rng(42)
classes = ("circle", "square", "cross", "triangle")


def draw(kind, size=24):
    yy, xx = np.mgrid[0:size, 0:size]
    cx, cy = rng.uniform(9, 15, 2)
    r = rng.uniform(5, 8)
    dx, dy = xx - cx, yy - cy
    if kind == 0:
        mask = dx ** 2 + dy ** 2 < r ** 2
    elif kind == 1:
        mask = (abs(dx) < r * 0.85) & (abs(dy) < r * 0.85)
    elif kind == 2:
        mask = ((abs(dx) < r * 0.3) | (abs(dy) < r * 0.3)) & (abs(dx) < r) & (abs(dy) < r)
    else:
        mask = (dy < r * 0.7) & (dy > -r) & (abs(dx) < (dy + r) * 0.55)
    img = rng.uniform(0, 0.5, 3)[:, None, None] * np.ones((3, size, size))
    img = np.where(mask[None], rng.uniform(0.5, 1.0, 3)[:, None, None], img)
    return img + rng.normal(0, 0.08, img.shape)


def make_set(n):
    y = rng.integers(0, 4, n)
    x = np.stack([draw(k) for k in y])
    return TensorDataset(torch.tensor((x - 0.5) / 0.5, dtype=torch.float32), torch.tensor(y))


trainloader = DataLoader(make_set(2400), batch_size=32, shuffle=True)
testloader = DataLoader(make_set(600), batch_size=32, shuffle=False)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 3 * 3, 64)
        self.fc2 = nn.Linear(64, 4)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

for epoch in range(8):
    running_loss = 0.0
    net.train()
    for i, data in enumerate(trainloader, 0):
        inputs, labels = data
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()

    correct = 0
    total = 0
    net.eval()
    with torch.no_grad():
        for data in testloader:
            images, labels = data
            outputs = net(images)
            predicted, _ = torch.max(outputs, 1)
            total += labels.size(0)
            correct += (predicted == labels).sum().item()
    print("[%d] loss: %.3f  test accuracy: %.1f %%" % (epoch + 1, running_loss / len(trainloader), 100 * correct / total))

print("Finished Training")
