"""Bird calls from mel frames, with masking of bands and frames while training."""
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

BANDS, FRAMES, SPECIES = 40, 48, 8


def synth_call(species, rng):
    t = np.arange(FRAMES)
    start = 4 + 4 * species + rng.normal(0, 1.0)
    slope = [-0.25, 0.0, 0.25, 0.12][species % 4]
    track = start + slope * (t - FRAMES / 2) + 2 * np.sin(t / (2 + species % 3))
    bands = np.arange(BANDS)[:, None]
    mel = 2.0 * np.exp(-0.5 * ((bands - track[None]) / 1.5) ** 2)
    return (mel + rng.normal(0, 0.7, mel.shape)).astype("float32")


class BandFrameMask:
    def __init__(self, band_width=6, frame_width=8, repeats=1):
        self.band_width = band_width
        self.frame_width = frame_width
        self.repeats = repeats

    def __call__(self, mel):
        mel = mel.clone()
        for _ in range(self.repeats):
            w = random.randint(self.band_width // 2, self.band_width)
            s = random.randint(0, BANDS - w)
            mel[s:s + w] = 0
            w = random.randint(self.frame_width // 2, self.frame_width)
            s = random.randint(0, FRAMES - w)
            mel[:, s:s + w] = 0
        return mel


class Calls(Dataset):
    def __init__(self, n, seed, transform=None):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, SPECIES, n)
        self.mels = torch.from_numpy(np.stack([synth_call(s, rng) for s in self.labels]))
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        mel = self.mels[i]
        if self.transform is not None:
            mel = self.transform(mel)
        return mel, int(self.labels[i])


class CallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(BANDS, 48, 5, padding=2)
        self.c2 = nn.Conv1d(48, 48, 5, padding=2)
        self.out = nn.Linear(48, SPECIES)

    def forward(self, mel):
        h = F.relu(self.c1(mel))
        h = F.relu(self.c2(F.max_pool1d(h, 2)))
        return self.out(h.mean(-1))


def main():
    torch.manual_seed(4)
    random.seed(4)
    train = DataLoader(Calls(1600, 0, BandFrameMask()), batch_size=32, shuffle=True)
    test = DataLoader(Calls(600, 1), batch_size=100)
    net = CallNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(10):
        net.train()
        seen, total = 0, 0.0
        for x, y in train:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
            seen += len(y)
        net.eval()
        with torch.no_grad():
            acc = sum((net(x).argmax(1) == y).sum().item() for x, y in test) / 600
        print(f"epoch {epoch + 1:2d} train loss {total / seen:.4f} test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
