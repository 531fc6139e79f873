import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

QUANTILES = torch.tensor([0.1, 0.5, 0.9])
WINDOW, MICRO, ACCUMULATE = 24, 8, 4


def load_series(n=2600, seed=8):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    day = np.sin(2 * np.pi * t / 24)
    week = np.sin(2 * np.pi * t / 168)
    level = 20 + 6 * day + 3 * week
    spread = 0.5 + 1.0 * (1 + day)
    return (level + spread * rng.normal(size=n)).astype(np.float32)


class NextHour(Dataset):
    def __init__(self, series):
        self.series = torch.as_tensor(series)

    def __len__(self):
        return len(self.series) - WINDOW

    def __getitem__(self, i):
        return self.series[i:i + WINDOW, None], self.series[i + WINDOW]


class QuantileGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, len(QUANTILES))

    def forward(self, x):
        out, _ = self.gru(x)
        return self.head(out[:, -1])


def pinball(pred, target):
    error = target.unsqueeze(1) - pred
    return torch.maximum(QUANTILES * error, (QUANTILES - 1) * error).mean()


def evaluate(model, loader):
    model.eval()
    total, inside, n = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            q = model(x)
            total += pinball(q, y).item() * len(y)
            inside += ((y >= q[:, 0]) & (y <= q[:, 2])).sum().item()
            n += len(y)
    return total / n, inside / n


def train(model, train_loader, valid_loader, path, epochs=15, patience=3):
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    best, waited = float("inf"), 0
    for epoch in range(epochs):
        model.train()
        optimizer.zero_grad()
        running = 0.0
        for i, (x, y) in enumerate(train_loader):
            loss = pinball(model(x), y)
            (loss / ACCUMULATE).backward()
            running += loss.item()
            if (i + 1) % ACCUMULATE == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        value, cover = evaluate(model, valid_loader)
        plateau.step(value)
        print(f"{epoch:2d}  train {running / len(train_loader):.4f}  valid {value:.4f}  inside 80% band {cover:.2f}")
        if value < best:
            best, waited = value, 0
            torch.save({"model": model.state_dict(), "epoch": epoch}, path)
        else:
            waited += 1
            if waited == patience:
                print("no progress, stopping")
                break


def main():
    torch.manual_seed(1)
    series = load_series()
    a, b = 1816, 2216
    mean, std = series[:a].mean(), series[:a].std()
    scaled = (series - mean) / std
    train_loader = DataLoader(NextHour(scaled[:a]), batch_size=MICRO, shuffle=True, drop_last=True)
    valid_loader = DataLoader(NextHour(scaled[a - WINDOW:b]), batch_size=128)
    test_loader = DataLoader(NextHour(scaled[b - WINDOW:]), batch_size=128)

    model = QuantileGRU()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "forecast.pt")
        train(model, train_loader, valid_loader, path)
        saved = torch.load(path)
    model.load_state_dict(saved["model"])

    value, cover = evaluate(model, test_loader)
    flat = torch.quantile(torch.as_tensor(scaled[:a]), QUANTILES).unsqueeze(0)
    constant = pinball(flat, torch.as_tensor(scaled[b:])).item()
    print(f"epoch {saved['epoch']} kept: test pinball {value:.4f} (constant quantiles {constant:.4f}), coverage {cover:.2f}")


if __name__ == "__main__":
    main()
