# One-step-ahead forecast of a long hourly load curve with a stateful GRU.
import math

import numpy as np
import torch
from torch import nn

CFG = {
    "n_streams": 16,
    "chunk": 48,
    "hidden": 32,
    "lr": 5e-3,
    "epochs": 12,
    "clip": 1.0,
}


def make_load(n, rng):
    t = np.arange(n)
    daily = np.sin(2 * math.pi * t / 24)
    weekly = 0.6 * np.sin(2 * math.pi * t / 168 + 0.5)
    ar = np.zeros(n)
    for i in range(1, n):
        ar[i] = 0.7 * ar[i - 1] + 0.2 * rng.standard_normal()
    return (daily + weekly + ar).astype(np.float32)


def to_streams(series, n_streams):
    length = len(series) // n_streams
    return torch.from_numpy(series[: length * n_streams].reshape(n_streams, length))


def chunks(streams, size):
    for start in range(0, streams.shape[1] - size - 1, size):
        x = streams[:, start : start + size].unsqueeze(-1)
        y = streams[:, start + 1 : start + size + 1].unsqueeze(-1)
        yield x, y


class LoadGRU(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x, state)
        return self.out(h), state


def run_epoch(model, streams, optimizer=None):
    loss_fn = nn.MSELoss()
    state = None
    losses = []
    for x, y in chunks(streams, CFG["chunk"]):
        pred, state = model(x, state)
        loss = loss_fn(pred, y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), CFG["clip"])
            optimizer.step()
        state = state.detach()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    series = make_load(16 * 1500, rng)
    split = int(0.8 * len(series))
    mean, std = series[:split].mean(), series[:split].std()
    series = (series - mean) / std
    train = to_streams(series[:split], CFG["n_streams"])
    test = to_streams(series[split:], 4)

    model = LoadGRU(CFG["hidden"])
    optimizer = torch.optim.Adam(model.parameters(), lr=CFG["lr"])
    for epoch in range(CFG["epochs"]):
        model.train()
        tr = run_epoch(model, train, optimizer)
        model.eval()
        with torch.no_grad():
            te = run_epoch(model, test)
        print(f"epoch {epoch} train mse {tr:.4f} test mse {te:.4f}")

    naive = torch.mean((test[:, 1:] - test[:, :-1]) ** 2).item()
    print(f"persistence mse {naive:.4f}")
    print(f"model mse       {te:.4f}")


if __name__ == "__main__":
    main()
