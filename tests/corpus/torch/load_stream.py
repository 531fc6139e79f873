# Stateful LSTM over parallel electricity-load streams: consecutive chunks, state carried on, no shuffling.
import numpy as np
import torch
from torch import nn

torch.manual_seed(15)
rng = np.random.default_rng(15)
STREAMS, HOURS, CHUNK = 96, 3000, 50


def households():
    t = np.arange(HOURS)[None]
    phase = rng.uniform(0, 2 * np.pi, (STREAMS, 1))
    day = np.sin(2 * np.pi * t / 24 + phase) + 0.4 * np.sin(4 * np.pi * t / 24 + 2 * phase)
    week = 0.5 * (((t // 24 + rng.integers(0, 7, (STREAMS, 1))) % 7) >= 5)
    level = np.zeros((STREAMS, HOURS))
    for h in range(1, HOURS):
        level[:, h] = 0.98 * level[:, h - 1] + 0.08 * rng.standard_normal(STREAMS)
    return torch.tensor(day + week + level + 0.1 * rng.standard_normal((STREAMS, HOURS)), dtype=torch.float32)


class LoadLSTM(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.rnn = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x.unsqueeze(-1), state)
        return x + self.out(h).squeeze(-1), state


def chunks(z):
    for s in range(0, z.size(1) - CHUNK, CHUNK):
        yield z[:, s:s + CHUNK], z[:, s + 1:s + CHUNK + 1]


data = households()
past, future = data[:, :2400], data[:, 2400:]
mu, sd = past.mean(), past.std()
past, future = (past - mu) / sd, (future - mu) / sd

model = LoadLSTM()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.96)
for epoch in range(40):
    model.train()
    state, losses = None, []
    for x, y in chunks(past):
        if state is not None:
            state = tuple(s.detach() for s in state)
        pred, state = model(x, state)
        loss = nn.functional.smooth_l1_loss(pred, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        losses.append(loss.item())
    sched.step()
    model.eval()
    with torch.no_grad():
        _, state = model(past)
        pred, _ = model(future[:, :-1], state)
        mae = (pred - future[:, 1:]).abs().mean()
        naive = (future[:, :-1] - future[:, 1:]).abs().mean()
    print(f"epoch {epoch + 1:2d} loss {np.mean(losses):.4f} future mae {mae:.4f} (repeat last: {naive:.4f})")
