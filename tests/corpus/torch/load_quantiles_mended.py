"""Probabilistic forecast of hourly power load: quantiles 0.1 / 0.5 / 0.9 from a GRU."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make_load(n_hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n_hours)
    daily = 2.0 * np.sin(2 * np.pi * t / 24) + 0.8 * np.sin(4 * np.pi * t / 24 + 0.7)
    weekly = 1.0 * np.sin(2 * np.pi * t / 168)
    drift = np.zeros(n_hours)
    for i in range(1, n_hours):
        drift[i] = 0.97 * drift[i - 1] + rng.normal(0, 0.15)
    return (10 + daily + weekly + drift + rng.normal(0, 0.1, n_hours)).astype(np.float32)


class Windows(Dataset):
    def __init__(self, series, mean, std, span=36):
        self.z = torch.from_numpy((series - mean) / std)
        self.span = span

    def __len__(self):
        return len(self.z) - self.span

    def __getitem__(self, i):
        past = self.z[i:i + self.span].unsqueeze(-1)
        future = self.z[i + self.span]
        return past, future


class QuantileGRU(nn.Module):
    def __init__(self, quantiles, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.heads = nn.ModuleList(nn.Linear(hidden, 1) for _ in quantiles)

    def forward(self, past):
        _, h = self.gru(past)
        return [head(h[-1]).squeeze(-1) for head in self.heads]


def pinball(pred, target, q):
    err = target - pred
    return torch.maximum(q * err, (q - 1) * err).mean()


def quantile_loss(preds, target, quantiles):
    return sum(pinball(p, target, q) for p, q in zip(preds, quantiles)) / len(quantiles)


class Forecaster:
    def __init__(self, args):
        self.args = args
        self.quantiles = args.quantiles
        self.model = QuantileGRU(self.quantiles)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, step_size=4, gamma=0.5)

    def fit(self, loader):
        for epoch in range(self.args.epochs):
            self.model.train()
            seen, total = 0, 0.0
            for past, future in loader:
                loss = quantile_loss(self.model(past), future, self.quantiles)
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.opt.step()
                seen += len(past)
                total += loss.item() * len(past)
            self.sched.step()
            print(f"epoch {epoch}: pinball {total / seen:.4f}")
        return self

    @torch.no_grad()
    def predict(self, dataset):
        self.model.eval()
        parts = [torch.stack(self.model(past), dim=1) for past, _ in DataLoader(dataset, batch_size=256)]
        return torch.cat(parts).numpy()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--hours", type=int, default=3000)
    p.add_argument("--epochs", type=int, default=9)
    p.add_argument("--lr", type=float, default=8e-3)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--quantiles", type=float, nargs="+", default=[0.1, 0.5, 0.9])
    args = p.parse_args()
    torch.manual_seed(0)

    load = make_load(args.hours, seed=1)
    cut = int(0.8 * len(load))
    mean, std = load[:cut].mean(), load[:cut].std()
    train, test = Windows(load[:cut], mean, std), Windows(load[cut:], mean, std)
    fc = Forecaster(args).fit(DataLoader(train, batch_size=args.batch, shuffle=True))

    pred = fc.predict(test) * std + mean
    truth = load[cut:][test.span:]
    mae = np.abs(pred[:, 1] - truth).mean()
    naive = np.abs(mean - truth).mean()
    print(f"test MAE of the median {mae:.3f}   MAE of the training mean {naive:.3f}")
    print(f"mean width of the 80% band {np.mean(pred[:, 2] - pred[:, 0]):.3f}")


if __name__ == "__main__":
    main()
