"""Voice / tone / noise recognition on spectrogram frames."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, random_split

RATE = 4000
LABELS = ("voice", "tone", "noise", "click")


def clip(label, g):
    t = np.arange(1024) / RATE
    if label == 0:
        f0 = g.uniform(90, 250)
        s = sum(np.sin(2 * np.pi * f0 * k * t + g.uniform(0, 6)) / k for k in range(1, 7))
        s = s * (1 + 0.5 * np.sin(2 * np.pi * 6 * t))
    elif label == 1:
        s = np.sin(2 * np.pi * g.uniform(200, 1800) * t)
    elif label == 2:
        s = g.normal(size=t.size)
    else:
        s = np.zeros_like(t)
        for p in g.integers(0, t.size - 8, 6):
            s[p:p + 8] += 4 * np.hanning(8)
    return s / (np.abs(s).max() + 1e-6) + g.normal(0, 0.5, t.size)


def spectrogram(s, win=64, hop=32):
    frames = np.lib.stride_tricks.sliding_window_view(s, win)[::hop] * np.hanning(win)
    return np.log(np.abs(np.fft.rfft(frames, axis=1)) + 1e-3).T.astype(np.float32)


class Clips(Dataset):
    def __init__(self, n, seed=0):
        g = np.random.default_rng(seed)
        self.y = g.integers(0, len(LABELS), n)
        self.x = np.stack([spectrogram(clip(k, g)) for k in self.y])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), int(self.y[i])


class FrameNet(nn.Module):
    def __init__(self, bins=33, ch=48):
        super().__init__()
        self.c1 = nn.Conv1d(bins, ch, 5, padding=2)
        self.c2 = nn.Conv1d(ch, ch, 5, padding=2)
        self.b1 = nn.BatchNorm1d(ch)
        self.b2 = nn.BatchNorm1d(ch)
        self.proj = nn.Sequential(nn.Linear(ch, 32), nn.BatchNorm1d(32), nn.ReLU())
        self.out = nn.Linear(32, len(LABELS))

    def forward(self, x):
        x = F.relu(self.b1(self.c1(x)))
        x = F.relu(self.b2(self.c2(x)))
        return self.out(self.proj(x.mean(-1)))


class Runner:
    def __init__(self, net, train, valid, lr=1e-3):
        self.net = net
        self.train = DataLoader(train, batch_size=32, shuffle=True, drop_last=True)
        self.valid = DataLoader(valid, batch_size=128)
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)

    def epoch(self):
        self.net.train()
        total = 0.0
        for i, (x, y) in enumerate(self.train):
            loss = F.cross_entropy(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
            if i % 30 == 0:
                print(f"  step {i:3d} loss {loss.item():.4f}")
        return total / len(self.train)

    @torch.no_grad()
    def score(self):
        self.net.eval()
        hit = sum((self.net(x).argmax(1) == y).sum().item() for x, y in self.valid)
        return hit / len(self.valid.dataset)


if __name__ == "__main__":
    torch.manual_seed(0)
    data = Clips(3601)
    train, valid = random_split(data, [0.8, 0.2])
    print(len(train), "training clips,", len(valid), "validation clips")
    runner = Runner(FrameNet(), train, valid)
    for e in range(16):
        loss = runner.epoch()
        print(f"epoch {e} loss {loss:.4f} valid acc {runner.score():.4f}")
