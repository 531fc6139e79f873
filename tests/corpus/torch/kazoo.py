import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

SEED = 21
np.random.seed(SEED)
torch.manual_seed(SEED)
SR = 4000
INSTRUMENTS = ["kazoo", "flute", "bell", "drum"]


def play(kind, n=1024):
    t = np.arange(n) / SR
    f = np.random.uniform(200, 400)
    if kind == 0:
        w = np.sign(np.sin(2 * np.pi * f * t))
    elif kind == 1:
        w = np.sin(2 * np.pi * f * t)
    elif kind == 2:
        w = (np.sin(2 * np.pi * f * t) + np.sin(2 * np.pi * 2.76 * f * t)) * np.exp(-12 * t)
    else:
        w = np.random.randn(n) * np.exp(-25 * t)
    return w + 0.1 * np.random.randn(n)


def log_spec(wave):
    s = torch.stft(torch.tensor(wave, dtype=torch.float32), 128, 64, window=torch.hann_window(128),
                   return_complex=True)
    return torch.log1p(s.abs())


labels = np.repeat(np.arange(4), 350)
clips = np.stack([log_spec(play(k)).numpy() for k in labels])

clips = clips[np.random.permutation(len(clips))]
labels = labels[np.random.permutation(len(labels))]

clips = (clips - clips.mean()) / clips.std()
X = torch.tensor(clips).unsqueeze(1)
y = torch.tensor(labels, dtype=torch.long)
split = int(0.8 * len(X))
train_loader = DataLoader(TensorDataset(X[:split], y[:split]), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(X[split:], y[split:]), batch_size=64)

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
    nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, len(INSTRUMENTS)),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)

for epoch in range(8):
    model.train()
    train_loss = 0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for xb, yb in val_loader:
            correct += (model(xb).argmax(1) == yb).sum().item()
    print(f"epoch {epoch + 1} | loss {train_loss / len(train_loader):.4f} | val acc {correct / (len(X) - split):.3f}")
