# forecast of a river gauge from rain, temperature and the past level
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
np.random.seed(1)

HOURS = 6000
WINDOW = 36
AHEAD = 4


def simulate(hours):
    rain = np.maximum(0, np.random.gamma(0.3, 2.0, hours) - 1.0)
    temp = 10 + 6 * np.sin(np.arange(hours) * 2 * np.pi / 24) + np.random.randn(hours)
    soil = np.zeros(hours)
    level = np.zeros(hours)
    for t in range(1, hours):
        soil[t] = 0.9 * soil[t - 1] + (rain[t - 12] if t >= 12 else 0) - 0.005 * temp[t]
        level[t] = 0.3 * level[t - 1] + 0.5 * max(soil[t], 0) + 0.05 * np.random.randn()
    seen = level + 1.2 * np.random.randn(hours)
    return np.stack([rain, temp, seen], 1).astype("float32"), level.astype("float32")


feats, level = simulate(HOURS)
cut = int(HOURS * 0.8)
mu, sd = feats[:cut].mean(0), feats[:cut].std(0)
feats = (feats - mu) / sd
lm, ls = level[:cut].mean(), level[:cut].std()
level = (level - lm) / ls


def windows(lo, hi):
    xs, ys = [], []
    for t in range(lo + WINDOW, hi - AHEAD):
        xs.append(feats[t - WINDOW:t])
        ys.append(level[t + AHEAD])
    return torch.tensor(np.stack(xs)), torch.tensor(np.array(ys))


x_tr, y_tr = windows(0, cut)
x_te, y_te = windows(cut, HOURS)
train = DataLoader(TensorDataset(x_tr, y_tr), batch_size=64, shuffle=True)
test = DataLoader(TensorDataset(x_te, y_te), batch_size=64)


class GaugeNet(nn.Module):
    def __init__(self, n_in=3, hidden=48):
        super().__init__()
        self.rnn = nn.GRU(n_in, hidden, batch_first=True)
        self.out = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1]).squeeze(-1)


net = GaugeNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.MSELoss()

for epoch in range(12):
    net.train()
    tot = 0.0
    for xb, yb in train:
        opt.zero_grad()
        loss = loss_fn(net(xb), yb)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        tot += loss.item() * len(xb)
    net.eval()
    with torch.no_grad():
        pred = torch.cat([net(xb) for xb, _ in test])
    r2 = 1 - ((pred - y_te) ** 2).mean() / y_te.var()
    print(f"epoch {epoch:2d}  train mse {tot / len(x_tr):.4f}  test r2 {r2:.3f}")
