"""Forecast a tide gauge half an hour ahead with a stateful LSTM: long parallel streams read in order."""
import numpy as np
import torch
from torch import nn


def gauge(n, g):
    t = np.arange(n) / 4.0
    ph = g.uniform(0, 6.28, 3)
    tide = np.sin(2 * np.pi * t / 12.42 + ph[0]) + 0.4 * np.sin(2 * np.pi * t / 12.0 + ph[1]) + 0.3 * np.sin(2 * np.pi * t / 25.8 + ph[2])
    surge = np.zeros(n)
    for i in range(1, n):
        surge[i] = 0.98 * surge[i - 1] + g.normal(0, 0.02)
    return (tide + surge).astype(np.float32)


class Forecaster(nn.Module):
    def __init__(self, h=48):
        super().__init__()
        self.lstm = nn.LSTM(1, h, batch_first=True)
        self.out = nn.Linear(h, 1)

    def forward(self, x, state):
        y, state = self.lstm(x, state)
        return x + self.out(y), state


AHEAD, CHUNK = 2, 50
g = np.random.default_rng(10)
torch.manual_seed(10)
train = torch.from_numpy(np.stack([gauge(3002, g) for _ in range(16)])).unsqueeze(-1)
test = torch.from_numpy(np.stack([gauge(1502, g) for _ in range(4)])).unsqueeze(-1)
net = Forecaster()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(30):
    state, losses = None, []
    for a in range(0, train.size(1) - AHEAD - CHUNK + 1, CHUNK):
        x, y = train[:, a:a + CHUNK], train[:, a + AHEAD:a + AHEAD + CHUNK]
        pred, state = net(x, state)
        state = tuple(s.detach() for s in state)
        loss = nn.functional.mse_loss(pred, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        losses.append(loss.item())
    with torch.no_grad():
        pred, _ = net(test[:, :-AHEAD], None)
        rmse = (pred - test[:, AHEAD:])[:, 100:].pow(2).mean().sqrt().item()
        naive = (test[:, :-AHEAD] - test[:, AHEAD:])[:, 100:].pow(2).mean().sqrt().item()
    print(f"epoch {epoch}: train {np.mean(losses):.5f}  test rmse {rmse:.4f}  (persistence {naive:.4f})")
