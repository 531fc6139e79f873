"""Which of four frog species calls in a short recording? Small CNN on log spectrograms."""
import csv
import io

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset

SPECIES = ["tree frog", "marsh frog", "common toad", "midwife toad"]
RATE = 2000


def field_trip(n, seed):
    """Recordings by file name, and the sheet that was filled in on the spot."""
    rng = np.random.default_rng(seed)
    t = np.arange(RATE // 2) / RATE
    recordings, sheet = {}, io.StringIO()
    writer = csv.writer(sheet)
    writer.writerow(["file", "species"])
    for i in range(n):
        kind = int(rng.integers(4))
        low, sweep, pulse = [(300, 200, 0), (300, 0, 8), (600, 0, 0), (600, -200, 14)][kind]
        low = low * rng.uniform(0.92, 1.08)
        wave = np.sin(2 * np.pi * (low * t + sweep * t ** 2))
        if pulse:
            wave = wave * (np.sin(2 * np.pi * pulse * t + rng.uniform(0, 6)) > 0)
        wave = wave * rng.uniform(0.5, 1.0) + rng.normal(0, 1.0, len(t))
        recordings[f"pond_{i}.wav"] = wave.astype(np.float32)
        writer.writerow([f"pond_{i}.wav", SPECIES[kind]])
    sheet.seek(0)
    return recordings, sheet


def log_spectrogram(wave):
    window = torch.hann_window(64)
    spec = torch.stft(torch.from_numpy(wave), 64, hop_length=32, window=window, return_complex=True).abs()
    spec = torch.log1p(spec)
    return (spec - spec.mean()) / spec.std()


class FrogCalls(Dataset):
    def __init__(self, recordings, sheet):
        rows = list(csv.DictReader(sheet))
        self.files = sorted(recordings)
        self.labels = [SPECIES.index(row["species"]) for row in rows]
        self.specs = [log_spectrogram(recordings[f]) for f in self.files]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.specs[i].unsqueeze(0), self.labels[i]


class CallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(24 * 8 * 4, len(SPECIES))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.adaptive_avg_pool2d(F.relu(self.conv2(x)), (8, 4))
        return self.fc(self.drop(x.flatten(1)))


torch.manual_seed(1)
dataset = FrogCalls(*field_trip(500, seed=4))
order = torch.randperm(len(dataset)).tolist()
train = DataLoader(Subset(dataset, order[:400]), batch_size=20, shuffle=True)
valid = DataLoader(Subset(dataset, order[400:]), batch_size=100)
net = CallNet()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)

for epoch in range(10):
    net.train()
    total = 0.0
    for spec, label in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(spec), label)
        loss.backward()
        optimizer.step()
        total += loss.item()
    net.eval()
    with torch.no_grad():
        acc = sum((net(s).argmax(1) == y).float().sum().item() for s, y in valid) / 100
    print(f"epoch {epoch + 1}  loss {total / len(train):.3f}  valid accuracy {acc:.2f}")
