"""Next-hour electricity load with a stateful LSTM over consecutive windows."""
import math

import torch
import torch.nn as nn

torch.manual_seed(13)
N_HOMES, HOURS, WINDOW = 16, 24 * 40, 48


def make_load():
    t = torch.arange(HOURS, dtype=torch.float32)
    base = 1.0 + 0.3 * torch.rand(N_HOMES, 1)
    shift = 4 * torch.rand(N_HOMES, 1)
    day = 0.5 * torch.sin(2 * math.pi * (t + shift) / 24)
    week = 0.2 * torch.sin(2 * math.pi * t / 168)
    return base + day + week + 0.05 * torch.randn(N_HOMES, HOURS)


series = make_load()
split = 24 * 32
mean, std = series[:, :split].mean(), series[:, :split].std()
series = ((series - mean) / std).unsqueeze(-1)
train, test = series[:, :split], series[:, split:]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        return self.out(h), state


model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(12):
    model.train()
    state = None
    losses = []
    for start in range(0, split - WINDOW, WINDOW):
        x = train[:, start : start + WINDOW]
        y = train[:, start + 1 : start + WINDOW + 1]
        pred, state = model(x, state)
        loss = criterion(pred, y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())

    model.eval()
    with torch.no_grad():
        pred, _ = model(test[:, :-1])
        test_mse = criterion(pred, test[:, 1:]).item()
        naive = criterion(test[:, :-1], test[:, 1:]).item()
    print(f"epoch {epoch:2d}  train {sum(losses) / len(losses):.4f}  test {test_mse:.4f}  (persistence {naive:.4f})")
