# Step 1: learn wave shapes (plenty of data).  Step 2: reuse the network for bearing faults (little data).
import numpy as np
import torch
import torch.nn as nn

np.random.seed(0)
torch.manual_seed(0)
t = np.linspace(0, 1, 128)


def waves(n):
    kind = np.random.randint(0, 4, n)
    f = np.random.uniform(3, 9, n)[:, None]
    ph = np.random.uniform(0, 1, n)[:, None]
    arg = (f * t + ph) % 1
    shapes = np.stack([np.sin(2 * np.pi * arg), np.sign(arg - .5), 2 * arg - 1, 4 * np.abs(arg - .5) - 1], 0)
    x = shapes[kind, np.arange(n)] + 0.2 * np.random.randn(n, 128)
    return torch.tensor(x, dtype=torch.float32).unsqueeze(1), torch.tensor(kind)


def vibrations(n):
    kind = np.random.randint(0, 3, n)
    base = np.sin(2 * np.pi * np.random.uniform(4, 6, n)[:, None] * t)
    arg = (np.random.uniform(8, 10, n)[:, None] * t) % 1
    clicks = 1.5 * (arg < 0.12)
    rub = np.clip(base, -0.4, 0.4) - base
    x = base + np.where((kind == 1)[:, None], clicks, 0) + np.where((kind == 2)[:, None], rub, 0)
    x = x + 0.2 * np.random.randn(n, 128)
    return torch.tensor(x, dtype=torch.float32).unsqueeze(1), torch.tensor(kind)


class WaveNet1d(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 24, 9, padding=4), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(24, 48, 9, padding=4), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten())
        self.fc = nn.Linear(48 * 4, n_classes)

    def forward(self, x):
        return self.fc(self.features(x))


def fit(model, optimizer, x, y, epochs, batch=32):
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        perm, total = torch.randperm(len(x)), 0.0
        for i in range(0, len(x), batch):
            idx = perm[i:i + batch]
            optimizer.zero_grad()
            loss = loss_fn(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        if epoch % 5 == 4:
            print(f"  epoch {epoch + 1}: loss {total / len(x):.4f}")


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


print("source task")
net = WaveNet1d(4)
fit(net, torch.optim.Adam(net.parameters(), lr=1e-3), *waves(2000), epochs=10)
print("source accuracy", round(accuracy(net, *waves(500)), 3))

print("target task")
for p in net.features.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
net.fc = nn.Linear(net.fc.in_features, 3)
fit(net, optimizer, *vibrations(240), epochs=30)
print("target accuracy", round(accuracy(net, *vibrations(600)), 3))
