import numpy as np
import torch
from torch import nn

torch.manual_seed(2)
rng = np.random.default_rng(2)
LANES, WINDOW = 8, 24


def hourly_rentals(days):
    hour = np.arange(days * 24)
    daily = np.sin(2 * np.pi * hour / 24) + 0.5 * np.sin(4 * np.pi * hour / 24 + 1)
    weekly = 0.6 * np.cos(2 * np.pi * hour / 168)
    shock = np.zeros(len(hour))
    for t in range(1, len(hour)):
        shock[t] = 0.9 * shock[t - 1] + rng.normal(0, 0.2)
    return (daily + weekly + shock).astype("float32")


def lanes(series):
    usable = len(series) // LANES * LANES
    return torch.from_numpy(series[:usable].reshape(LANES, -1))[..., None]


class Demand(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.rnn = nn.GRU(1, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x, state)
        return x + self.out(h), state


series = hourly_rentals(800)
train_end = 640 * 24
mean, std = series[:train_end].mean(), series[:train_end].std()
track = lanes((series[:train_end] - mean) / std)
model = Demand()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(8):
    state, losses = None, []
    for start in range(0, track.shape[1] - WINDOW - 1, WINDOW):
        x = track[:, start:start + WINDOW]
        y = track[:, start + 1:start + WINDOW + 1]
        pred, state = model(x, state)
        loss = nn.functional.mse_loss(pred, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        state = state.detach()
        losses.append(loss.item())
    print(f"epoch {epoch}  loss {np.mean(losses):.4f}")

rest = torch.from_numpy((series[train_end:] - mean) / std)[None, :, None]
with torch.no_grad():
    pred, _ = model(rest[:, :-1])
warm = 48
err = (pred - rest[:, 1:])[:, warm:].pow(2).mean().sqrt().item()
last = (rest[:, :-1] - rest[:, 1:])[:, warm:].pow(2).mean().sqrt().item()
print(f"one-hour-ahead rmse {err:.4f}  repeat-last-hour rmse {last:.4f}")
