import argparse
import math
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def tide_series(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n) / 6.0
    level = (1.6 * np.sin(2 * math.pi * t / 12.42) + 0.7 * np.sin(2 * math.pi * t / 12.0 + 1.0)
             + 0.4 * np.sin(2 * math.pi * t / 25.8))
    surge = np.zeros(n)
    for i in range(1, n):
        surge[i] = 0.98 * surge[i - 1] + 0.03 * rng.normal()
    return (level + surge).astype(np.float32)


class Windows(Dataset):
    """Past `back` levels -> the level `ahead` steps later."""

    def __init__(self, series, back=72, ahead=18):
        self.s, self.back, self.ahead = torch.from_numpy(series), back, ahead

    def __len__(self):
        return len(self.s) - self.back - self.ahead

    def __getitem__(self, i):
        return self.s[i:i + self.back].unsqueeze(0), self.s[i + self.back + self.ahead - 1]


class TideNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, width, 7, stride=2), nn.ReLU(),
                                  nn.Conv1d(width, width, 5, stride=2), nn.ReLU())
        self.lin = nn.Sequential(nn.Flatten(), nn.Linear(width * 15, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.lin(self.conv(x)).squeeze(1)


def evaluate(net, loader):
    net.eval()
    err = ref = 0.0
    with torch.no_grad():
        for x, y in loader:
            err += ((net(x) - y) ** 2).sum().item()
            ref += (y ** 2).sum().item()
    return math.sqrt(err / len(loader.dataset)), 1 - err / ref


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--weight-decay", type=float, default=1e-5)
    ap.add_argument("--batch", type=int, default=64)
    a = ap.parse_args()
    torch.manual_seed(13)
    s = tide_series(16000, 13)
    train = DataLoader(Windows(s[:12000]), batch_size=a.batch, shuffle=True)
    valid = DataLoader(Windows(s[12000:]), batch_size=256)
    net = TideNet()
    opt = torch.optim.Adam(net.parameters(), lr=a.lr, weight_decay=a.weight_decay)
    for epoch in range(a.epochs):
        net.train()
        tot = 0.0
        for x, y in train:
            loss = nn.functional.mse_loss(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(y)
        rmse, r2 = evaluate(net, valid)
        print(f"epoch {epoch} train mse {tot / len(train.dataset):.4f} valid rmse {rmse:.3f} m  r2 {r2:.3f}")


if __name__ == "__main__":
    main()
