import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SR = 2000
CROP = 2 * SR
NAMES = ["kettle", "blender", "tap", "timer"]
rng = np.random.default_rng(11)
torch.manual_seed(11)


def record(kind):
    n = int(SR * np.clip(rng.normal(3.2, 0.7), 1.2, 6.0))
    t = np.arange(n) / SR
    noise = rng.normal(0, 1, n)
    if kind == 0:
        x = np.sin(2 * np.pi * (300 + 60 * t) * t) * np.linspace(0.3, 1, n)
    elif kind == 1:
        x = np.sign(np.sin(2 * np.pi * rng.uniform(80, 110) * t))
    elif kind == 2:
        x = np.convolve(noise, np.ones(4) / 4, mode="same") * 1.5
    else:
        x = np.sin(2 * np.pi * 640 * t) * (np.sin(2 * np.pi * 4 * t) > 0)
    return (x + 0.5 * noise).astype(np.float32)


class Clips(Dataset):
    def __init__(self, per_class, train):
        self.items = [(record(k), k) for k in range(len(NAMES)) for _ in range(per_class)]
        self.train = train

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        wave, label = self.items[i]
        if len(wave) > CROP:
            start = int(rng.integers(0, len(wave) - CROP)) if self.train else 0
            wave = wave[start:start + CROP]
        return torch.from_numpy(wave).unsqueeze(0), label


train_loader = DataLoader(Clips(120, True), batch_size=32, shuffle=True)
test_loader = DataLoader(Clips(40, False), batch_size=32)

model = nn.Sequential(
    nn.Conv1d(1, 16, 33, stride=4), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(4),
    nn.Conv1d(16, 32, 9, stride=2), nn.BatchNorm1d(32), nn.ReLU(),
    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, len(NAMES)))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
    model.eval()
    hits = 0
    with torch.no_grad():
        for x, y in test_loader:
            hits += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch + 1}  loss {running / len(train_loader.dataset):.4f}  "
          f"test acc {hits / len(test_loader.dataset):.3f}")
