import math

import torch
from torch import nn


def make_series(length=4000, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length, dtype=torch.float32)
    load = torch.sin(2 * math.pi * t / 24) + 0.5 * torch.sin(2 * math.pi * t / 168 + 1.0)
    return load + 0.1 * torch.randn(length, generator=g)


def windows(series, size):
    x = series.unfold(0, size + 1, 1)
    return x[:, :-1].unsqueeze(-1), x[:, -1:]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(h[-1])


def fit(model, x, y, x_val, y_val, epochs=8, micro=16, accumulate=4, lr=0.05):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    loss_fn = nn.MSELoss()
    opt.zero_grad()
    for epoch in range(1, epochs + 1):
        model.train()
        perm = torch.randperm(len(x))
        seen = 0.0
        chunks = perm.split(micro)
        for i, idx in enumerate(chunks, start=1):
            loss = loss_fn(model(x[idx]), y[idx])
            (loss / accumulate).backward()
            seen += loss.item()
            if i % accumulate == 0:
                opt.step()
        model.eval()
        with torch.no_grad():
            val = loss_fn(model(x_val), y_val).item()
        print(f"epoch {epoch} train {seen / len(chunks):.4f} val {val:.4f} "
              f"(persistence {((x_val[:, -1] - y_val) ** 2).mean():.4f})")


if __name__ == "__main__":
    torch.manual_seed(0)
    series = make_series()
    x, y = windows(series, 24)
    split = 3200
    fit(Forecaster(), x[:split], y[:split], x[split + 24:], y[split + 24:])
