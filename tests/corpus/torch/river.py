"""River level forecasting with a stateful GRU read in chronological order."""
import argparse

import numpy as np
import torch
from torch import nn


def river(n, seed):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(0.25, 4.0, n) * (rng.random(n) < 0.3)
    ground = level = 0.0
    out = np.zeros(n)
    for t in range(n):
        ground = 0.97 * ground + rain[t]
        level = 0.8 * level + 0.06 * ground + 0.25 * rain[t]
        out[t] = level + rng.normal(0, 0.05)
    return rain.astype("float32"), out.astype("float32")


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x, state)
        return x[..., 1] + self.out(h).squeeze(-1), state


def lanes(x, y, n_lanes):
    keep = len(y) // n_lanes * n_lanes
    return x[:keep].view(n_lanes, -1, 2), y[:keep].view(n_lanes, -1)


def run(model, x, y, window, loss_fn, opt=None, clip=1.0):
    state, total, count = None, 0.0, 0
    for s in range(0, x.shape[1], window):
        xb, yb = x[:, s:s + window], y[:, s:s + window]
        pred, state = model(xb, state)
        state = state.detach()
        loss = loss_fn(pred, yb)
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            opt.step()
        total, count = total + loss.item() * yb.numel(), count + yb.numel()
    return total / count


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--days", type=int, default=12000)
    ap.add_argument("--window", type=int, default=40)
    ap.add_argument("--lanes", type=int, default=8)
    ap.add_argument("--hidden", type=int, default=24)
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    torch.manual_seed(a.seed)

    rain, level = river(a.days, a.seed)
    cut = int(0.8 * a.days)
    stats = [(s[:cut].mean(), s[:cut].std()) for s in (rain, level)]
    rain, level = ((s - m) / d for s, (m, d) in zip((rain, level), stats))
    x = torch.from_numpy(np.stack([rain[1:], level[:-1]], axis=1))
    y = torch.from_numpy(level[1:])
    x_train, y_train = lanes(x[:cut], y[:cut], a.lanes)
    x_test, y_test = x[cut:].unsqueeze(0), y[cut:].unsqueeze(0)

    model = Forecaster(a.hidden)
    opt = torch.optim.Adam(model.parameters(), lr=a.lr)
    loss_fn = nn.MSELoss()
    for epoch in range(a.epochs):
        model.train()
        train = run(model, x_train, y_train, a.window, loss_fn, opt)
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d} train mse {train:.5f}")
    model.eval()
    with torch.no_grad():
        mse = run(model, x_test, y_test, a.window, loss_fn)
    naive = (x_test[..., 1] - y_test).pow(2).mean().item()
    print(f"yesterday's level as forecast: mse {naive:.5f}")
    print(f"test mse {mse:.5f}  r2 {1 - mse / y_test.var().item():.4f}")


if __name__ == "__main__":
    main()
