"""One-step-ahead power load with an echo state network; ten readouts are trained."""
import numpy as np
import torch
from torch import nn


class Reservoir(nn.Module):
    def __init__(self, n_in, size, radius=0.9, leak=0.4):
        super().__init__()
        w = torch.randn(size, size) * (torch.rand(size, size) < 0.1)
        w = w * (radius / torch.linalg.eigvals(w).abs().max())
        self.w = nn.Parameter(w, requires_grad=False)
        self.w_in = nn.Parameter(torch.rand(size, n_in) - 0.5, requires_grad=False)
        self.leak = leak

    @torch.no_grad()
    def forward(self, u):
        h = torch.zeros(self.w.shape[0])
        states = []
        for step in u:
            h = (1 - self.leak) * h + self.leak * torch.tanh(self.w @ h + self.w_in @ step)
            states.append(h)
        return torch.stack(states)


class LoadForecaster(nn.Module):
    def __init__(self, n_in=2, size=150, horizon=10):
        super().__init__()
        self.reservoir = Reservoir(n_in, size)
        self.readout = nn.Linear(size + n_in, horizon)
        nn.init.zeros_(self.readout.weight)

    def features(self, u):
        return torch.cat([self.reservoir(u), u], 1)


def simulate(n, rng):
    t = np.arange(n)
    load = (np.sin(2 * np.pi * t / 48) + 0.5 * np.sin(2 * np.pi * t / 17 + 0.4)
            + 0.3 * np.sin(2 * np.pi * t / 336))
    ar = np.zeros(n)
    for i in range(1, n):
        ar[i] = 0.95 * ar[i - 1] + rng.normal(0, 0.04)
    return load + ar


def windows(series, horizon):
    target = np.stack([series[i + 1:i + 1 + horizon] for i in range(len(series) - horizon)])
    inputs = np.stack([series, np.ones_like(series)], 1)[:len(target)]
    return torch.tensor(inputs, dtype=torch.float32), torch.tensor(target, dtype=torch.float32)


def main():
    torch.manual_seed(1)
    series = simulate(4000, np.random.default_rng(1))
    u, y = windows(series, horizon=10)
    model = LoadForecaster()
    feats = model.features(u)
    washout, cut = 100, 3000

    x_train, y_train = feats[washout:cut], y[washout:cut]
    x_test, y_test = feats[cut + 10:], y[cut + 10:]
    opt = torch.optim.LBFGS(model.readout.parameters(), lr=1.0, max_iter=25, history_size=20,
                            line_search_fn="strong_wolfe")
    loss_fn = nn.MSELoss()

    def closure():
        opt.zero_grad()
        loss = loss_fn(model.readout(x_train), y_train)
        loss = loss + 1e-6 * model.readout.weight.pow(2).sum()
        loss.backward()
        return loss

    for rnd in range(12):
        loss = opt.step(closure)
        if rnd % 3 == 0:
            print(f"round {rnd} loss {loss.item():.5f}")

    with torch.no_grad():
        pred = model.readout(x_test)
    rmse = (pred - y_test).pow(2).mean().sqrt().item()
    naive = (u[cut + 10:, :1] - y_test).pow(2).mean().sqrt().item()
    print(f"test rmse {rmse:.4f}  persistence rmse {naive:.4f}  std {y_test.std().item():.4f}")


if __name__ == "__main__":
    main()
