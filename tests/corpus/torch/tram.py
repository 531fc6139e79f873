import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


def simulate_ridership(hours: int, seed: int) -> torch.Tensor:
    """Hourly boardings at one stop: daily and weekly rhythm, a little weather."""
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(hours, dtype=torch.float32)
    day = torch.sin(2 * math.pi * (t - 7) / 24) + 0.6 * torch.sin(4 * math.pi * (t - 2) / 24)
    week = torch.where((t // 24) % 7 < 5, 1.0, 0.45)
    weather = torch.zeros(hours)
    eps = torch.randn(hours, generator=g)
    for i in range(1, hours):
        weather[i] = 0.95 * weather[i - 1] + 0.1 * eps[i]
    return 120 + 60 * week * day + 25 * weather + 3 * torch.randn(hours, generator=g)


class Windows(Dataset):
    def __init__(self, series: torch.Tensor, history: int = 36):
        self.mean, self.std = series.mean(), series.std()
        self.z = (series - self.mean) / self.std
        self.history = history

    def __len__(self) -> int:
        return len(self.z) - self.history

    def __getitem__(self, i: int):
        return self.z[i : i + self.history].unsqueeze(-1), self.z[i + self.history]


class Forecaster(nn.Module):
    def __init__(self, hidden: int):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, 1))

    def forward(self, x):
        seq, _ = self.rnn(x)
        return self.out(seq[:, -1]).squeeze(-1)


class Runner:
    def __init__(self, model: nn.Module, lr: float, decay_every: int, scale: float):
        self.model = model
        self.scale = scale
        self.criterion = nn.SmoothL1Loss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-4)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=decay_every, gamma=0.2)

    def fit_epoch(self, loader: DataLoader) -> float:
        self.model.train()
        running = 0.0
        for x, y in loader:
            self.optimizer.zero_grad(set_to_none=True)
            loss = self.criterion(self.model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.scheduler.step()
            running += loss.item() * len(y)
        return running / len(loader.dataset)

    @torch.no_grad()
    def mae(self, loader: DataLoader) -> float:
        self.model.eval()
        err = sum((self.model(x) - y).abs().sum().item() for x, y in loader)
        return self.scale * err / len(loader.dataset)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--decay-every", type=int, default=4, help="epochs between two drops of the learning rate")
    ap.add_argument("--hidden", type=int, default=32)
    ap.add_argument("--seed", type=int, default=5)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    data = Windows(simulate_ridership(24 * 7 * 20, args.seed))
    cut = int(0.8 * len(data))
    train, valid = random_split(data, [cut, len(data) - cut])
    train_loader = DataLoader(train, batch_size=64, shuffle=True)
    valid_loader = DataLoader(valid, batch_size=256)

    runner = Runner(Forecaster(args.hidden), args.lr, args.decay_every, data.std.item())
    for epoch in range(1, args.epochs + 1):
        loss = runner.fit_epoch(train_loader)
        print(f"[{epoch:02d}] train {loss:.4f}   val MAE {runner.mae(valid_loader):6.2f} passengers")


if __name__ == "__main__":
    main()
