import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)


def fabric(kind, n, size=16):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    phase = torch.randint(0, 8, (n, 1, 1))
    grid = {"stripes": (xx + phase) // 2, "bands": (yy + phase) // 2,
            "checks": (xx + phase) // 2 + yy // 2, "twill": (xx + yy + phase) // 2}[kind]
    return (grid % 2).float().expand(n, size, size) + 0.7 * torch.randn(n, size, size) - 0.5


kinds = ["stripes", "bands", "checks", "twill"]
images = torch.cat([fabric(k, 700) for k in kinds]).unsqueeze(1)
labels = torch.arange(4).repeat_interleave(700)
perm = torch.randperm(len(labels))
images, labels = images[perm], labels[perm]
train = DataLoader(TensorDataset(images[:2200], labels[:2200]), batch_size=32, shuffle=True)
test = DataLoader(TensorDataset(images[2200:], labels[2200:]), batch_size=200)

model = nn.Sequential(
    nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
    nn.Linear(128, 4),
)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def evaluate():
    model.eval()
    hits = 0
    with torch.no_grad():
        for x, y in test:
            hits += (model(x).argmax(1) == y).sum().item()
    return hits / len(test.dataset)


for epoch in range(8):
    model.train()
    optimizer.zero_grad()
    epoch_loss = 0.0
    for x, y in train:
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print(f"epoch {epoch}: loss {epoch_loss / len(train):.3f}, test accuracy {evaluate():.3f}")
