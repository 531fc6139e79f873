import math
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

SR = 4000
CLIP = 4000
BIRDS = ["wren", "finch", "owl", "crow"]


def synth_call(kind, rng):
    dur = int(rng.uniform(0.35, 0.8) * SR)
    t = np.arange(dur) / SR
    if kind == 0:
        f = 900 + 700 * t / t[-1]
    elif kind == 1:
        f = 1600 - 700 * t / t[-1]
    elif kind == 2:
        f = 350 + 0 * t
    else:
        f = 1250 + 250 * np.sign(np.sin(2 * math.pi * 9 * t))
    f = f * rng.uniform(0.92, 1.08)
    wave = np.sin(2 * math.pi * np.cumsum(f) / SR) * rng.uniform(0.2, 1.0)
    wave += 0.15 * rng.normal(size=dur)
    clip = np.zeros(CLIP, dtype=np.float32)
    start = rng.integers(0, CLIP - dur)
    clip[start:start + dur] = wave
    return clip


class CallDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, len(BIRDS), n)
        self.clips = torch.tensor(np.stack([synth_call(k, rng) for k in self.labels]))
        self.window = torch.hann_window(256)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        spec = torch.stft(self.clips[i], n_fft=256, hop_length=128, window=self.window, center=False,
                          return_complex=True).abs() ** 2
        feats = torch.log(spec)
        feats = (feats - feats.mean()) / feats.std()
        return feats.unsqueeze(0), int(self.labels[i])


class CallNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d((8, 4)))
        self.fc = nn.Linear(16 * 32, n_classes)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def evaluate(net, loader):
    net.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (net(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


torch.manual_seed(1)
train_loader = DataLoader(CallDataset(600, 1), batch_size=32, shuffle=True)
test_loader = DataLoader(CallDataset(200, 2), batch_size=64)

net = CallNet(len(BIRDS))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=8)
ce = nn.CrossEntropyLoss()
for epoch in range(8):
    net.train()
    tot = 0.0
    for x, y in train_loader:
        opt.zero_grad()
        loss = ce(net(x), y)
        loss.backward()
        opt.step()
        tot += loss.item()
    sched.step()
    print(f"epoch {epoch} loss {tot / len(train_loader):.4f}")
print(f"test accuracy {evaluate(net, test_loader):.3f}")
