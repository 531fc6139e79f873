import math
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

settings = {
    "window": 48,
    "horizon": 6,
    "batch_size": 64,
    "epochs": 6,
    "max_lr": 4e-3,
}


def tide_series(n=4000, seed=3):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    level = 1.6 * np.sin(2 * np.pi * t / 12.42) + 0.5 * np.sin(2 * np.pi * t / 12.0 + 1)
    level += 0.3 * np.sin(2 * np.pi * t / 25.8 + 2)
    surge = np.zeros(n)
    for i in range(1, n):
        surge[i] = 0.95 * surge[i - 1] + rng.normal(0, 0.05)
    return (level + surge).astype(np.float32)


class Windows(Dataset):
    def __init__(self, series, window, horizon):
        self.s, self.w, self.h = torch.from_numpy(series), window, horizon

    def __len__(self):
        return len(self.s) - self.w - self.h + 1

    def __getitem__(self, i):
        return self.s[i:i + self.w], self.s[i + self.w:i + self.w + self.h]


class GRUForecaster(nn.Module):
    def __init__(self, horizon, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.proj = nn.Linear(hidden, horizon)

    def forward(self, x):
        _, h = self.rnn(x.unsqueeze(-1))
        return self.proj(h[-1])


def evaluate(model, loader):
    model.eval()
    se, n = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            se += ((model(x) - y) ** 2).sum().item()
            n += y.numel()
    return math.sqrt(se / n)


def make_scheduler(optimizer, n_train, cfg):
    return torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        max_lr=cfg["max_lr"],
        epochs=cfg["epochs"],
        steps_per_epoch=n_train // cfg["batch_size"],
        pct_start=0.2,
    )


def main(cfg):
    torch.manual_seed(5)
    series = tide_series()
    cut = 3300
    train_ds = Windows(series[:cut], cfg["window"], cfg["horizon"])
    test_ds = Windows(series[cut:], cfg["window"], cfg["horizon"])
    train_dl = DataLoader(train_ds, batch_size=cfg["batch_size"], shuffle=True)
    test_dl = DataLoader(test_ds, batch_size=256)

    model = GRUForecaster(cfg["horizon"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["max_lr"])
    scheduler = make_scheduler(optimizer, len(train_ds), cfg)
    for epoch in range(cfg["epochs"]):
        model.train()
        total = 0.0
        for x, y in train_dl:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            total += loss.item() * len(x)
        print(f"epoch {epoch} mse {total / len(train_ds):.4f} lr {scheduler.get_last_lr()[0]:.2e}"
              f" test rmse {evaluate(model, test_dl):.4f}")

    y = torch.stack([test_ds[i][1] for i in range(len(test_ds))])
    last = torch.stack([test_ds[i][0][-1:] for i in range(len(test_ds))])
    print(f"test rmse {evaluate(model, test_dl):.4f}, persistence {((last - y) ** 2).mean().sqrt():.4f}")


if __name__ == "__main__":
    main(settings)
