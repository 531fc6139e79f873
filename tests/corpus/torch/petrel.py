import argparse

import numpy as np
import torch
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--streams", type=int, default=12)
p.add_argument("--length", type=int, default=2400)
p.add_argument("--window", type=int, default=40)
p.add_argument("--hidden", type=int, default=48)
p.add_argument("--epochs", type=int, default=5)
p.add_argument("--lr", type=float, default=3e-3)
args = p.parse_args()


def machine(streams, length, seed):
    """Load readings of machines: a saw tooth whose height depends on a command given long before."""
    rng = np.random.default_rng(seed)
    command, height = np.zeros((length, streams)), np.ones(streams)
    phase, out = rng.uniform(0, 1, streams), np.zeros((length, streams))
    for t in range(length):
        hit = rng.uniform(size=streams) < 0.02
        command[t] = np.where(hit, rng.choice([-1.0, 1.0], streams), 0)
        height = np.where(command[t] > 0, 1.6, np.where(command[t] < 0, 0.5, height))
        phase = (phase + 1 / 9) % 1
        out[t] = height * (2 * phase - 1) + 0.05 * rng.normal(size=streams)
    return torch.tensor(np.stack([out, command], -1), dtype=torch.float32)


def windows(series, size):
    """Pieces in the order of time: row k of one piece goes on where row k of the piece before ended."""
    for start in range(0, len(series) - size, size):
        yield series[start:start + size], series[start + 1:start + size + 1, :, 0]


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.LSTM(2, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x, state)
        return self.out(h).squeeze(-1), state


def detach(state):
    return tuple(s.detach() for s in state)


@torch.no_grad()
def evaluate(model, series):
    model.eval()
    pred, _ = model(series[:-1])
    return nn.functional.mse_loss(pred[50:], series[51:, :, 0]).item()


torch.manual_seed(0)
train, valid = machine(args.streams, args.length, 0), machine(6, 600, 1)
persistence = (valid[51:, :, 0] - valid[50:-1, :, 0]).pow(2).mean().item()
print(f"repeat the last value: mse {persistence:.4f}; variance {valid[..., 0].var():.4f}")

model = Forecaster(args.hidden)
with torch.no_grad():
    model.rnn.bias_ih_l0[args.hidden:2 * args.hidden].fill_(2.0)
optimizer = torch.optim.RMSprop(model.parameters(), lr=args.lr, alpha=0.95)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.7)

for epoch in range(args.epochs):
    model.train()
    state, losses = None, []
    for x, y in windows(train, args.window):
        pred, state = model(x, state)
        loss = nn.functional.smooth_l1_loss(pred, y, beta=0.2)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        state = detach(state)
        losses.append(loss.item())
    scheduler.step()
    print(f"epoch {epoch + 1}: train {np.mean(losses):.4f} valid mse {evaluate(model, valid):.4f}")
