"""Stateful next-step forecast of a tide gauge: 16 parallel streams read strictly in time order, hidden state carried over."""
import numpy as np
import torch
from torch import nn


def gauge(steps, rng):
    t = np.arange(steps)
    a, b = rng.uniform(0.7, 1.3), rng.uniform(0.2, 0.6)
    p, q = rng.uniform(0, 2 * np.pi, 2)
    tide = a * np.sin(2 * np.pi * t / 24.8 + p) + b * np.sin(2 * np.pi * t / 12.4 + q)
    surge = np.zeros(steps)
    for i in range(1, steps):
        surge[i] = 0.9 * surge[i - 1] + 0.05 * rng.normal()
    return tide + surge


class StreamNet(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.cell = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.cell(x, state)
        return x + self.out(h), state


def main():
    torch.manual_seed(9)
    rng = np.random.default_rng(9)
    series = torch.tensor(np.stack([gauge(6001, rng) for _ in range(16)]), dtype=torch.float32).unsqueeze(-1)
    past, test = series[:, :5001], series[:, 5000:]
    chunk, epochs = 40, 25
    n_chunks = (past.shape[1] - 1) // chunk

    net = StreamNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=8e-3, total_steps=epochs * n_chunks)
    for ep in range(epochs):
        net.train()
        state, total = None, 0.0
        for c in range(n_chunks):
            x = past[:, c * chunk:(c + 1) * chunk]
            y = past[:, c * chunk + 1:(c + 1) * chunk + 1]
            pred, state = net(x, state)
            state = tuple(s.detach() for s in state)
            loss = nn.functional.mse_loss(pred, y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
            sched.step()
            total += loss.item()
        print(f"epoch {ep:2d} lr {sched.get_last_lr()[0]:.5f} train mse {total / n_chunks:.5f}")

    net.eval()
    with torch.no_grad():
        _, state = net(past[:, :-1])
        pred, _ = net(test[:, :-1], state)
    mse = nn.functional.mse_loss(pred, test[:, 1:]).item()
    naive = nn.functional.mse_loss(test[:, :-1], test[:, 1:]).item()
    print(f"test mse {mse:.5f}; repeating the last reading {naive:.5f}; noise floor about {0.05 ** 2:.5f}")


if __name__ == "__main__":
    main()
