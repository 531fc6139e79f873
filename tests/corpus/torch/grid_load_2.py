import argparse
import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--window", type=int, default=24)
parser.add_argument("--streams", type=int, default=16)
parser.add_argument("--hidden", type=int, default=32)
parser.add_argument("--lr", type=float, default=5e-3)
args = parser.parse_args()

np.random.seed(0)
torch.manual_seed(0)


def load_curves(n_streams, length):
    t = np.arange(length)
    curves = []
    for _ in range(n_streams):
        phase = np.random.randint(0, 24)
        daily = np.sin(2 * np.pi * (t + phase) / 24)
        weekly = 0.4 * np.sin(2 * np.pi * (t + 7 * phase) / 168)
        curves.append(daily + weekly + 0.08 * np.random.randn(length))
    return torch.tensor(np.stack(curves), dtype=torch.float32)


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x, state)
        return self.out(h), state


def windows(series, size):
    for start in range(0, series.shape[1] - size - 1, size):
        x = series[:, start:start + size].unsqueeze(-1)
        y = series[:, start + 1:start + size + 1].unsqueeze(-1)
        yield x, y


data = load_curves(args.streams, 24 * 60)
cut = 24 * 48
train, test = data[:, :cut], data[:, cut:]

net = Forecaster(args.hidden)
optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
criterion = nn.MSELoss()

for epoch in range(args.epochs):
    net.train()
    state = None
    losses = []
    for x, y in windows(train, args.window):
        optimizer.zero_grad()
        pred, state = net(x, state)
        loss = criterion(pred, y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    print(f"epoch {epoch + 1} mse {np.mean(losses):.4f}")

net.eval()
with torch.no_grad():
    _, state = net(train[:, :-1].unsqueeze(-1))
    pred, _ = net(test[:, :-1].unsqueeze(-1), state)
mse = criterion(pred.squeeze(-1), test[:, 1:]).item()
naive = criterion(test[:, :-1], test[:, 1:]).item()
print(f"test mse {mse:.4f}   last-value mse {naive:.4f}")
