# Hour-ahead district heating load from the last 48 hours (LSTM)
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

SEED = 3
WINDOW = 48
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

# --- hourly series: daily and weekly cycles, slow weather drift -------------
hours = np.arange(24 * 7 * 14)
weather = np.zeros(len(hours))
for i in range(1, len(hours)):
    weather[i] = 0.98 * weather[i - 1] + rng.normal(0, 0.35)
load = (40 + 9 * np.sin(2 * np.pi * hours / 24) + 4 * np.sin(4 * np.pi * hours / 24 + 0.7)
        + 3 * (hours % 168 < 120) + 4 * weather + rng.normal(0, 0.6, len(hours)))
load = load.astype(np.float32)

split = int(0.8 * len(load))
mu, sd = load[:split].mean(), load[:split].std()
scaled = (load - mu) / sd


class Windows(Dataset):
    def __init__(self, series, window):
        self.s = torch.tensor(series, dtype=torch.float32)
        self.w = window

    def __len__(self):
        return len(self.s) - self.w

    def __getitem__(self, i):
        return self.s[i:i + self.w].unsqueeze(-1), self.s[i + self.w]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Sequential(nn.Linear(hidden, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        h, _ = self.lstm(x)
        return self.out(h[:, -1])


def log_cosh(pred, target):
    d = pred - target
    return (d + nn.functional.softplus(-2 * d) - np.log(2.0)).mean()


train_ds = Windows(scaled[:split], WINDOW)
test_ds = Windows(scaled[split - WINDOW:], WINDOW)
train_dl = DataLoader(train_ds, batch_size=64, shuffle=True)
test_dl = DataLoader(test_ds, batch_size=256)

net = Forecaster()
optim = torch.optim.Adam(net.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(optim, T_max=8)


def test_mae():
    net.eval()
    preds, trues = [], []
    with torch.no_grad():
        for xb, yb in test_dl:
            preds.append(net(xb).numpy().ravel())
            trues.append(yb.numpy().ravel())
    p, t = np.concatenate(preds), np.concatenate(trues)
    return float(np.abs(p - t).mean() * sd)


for epoch in range(8):
    net.train()
    running = []
    for xb, yb in train_dl:
        optim.zero_grad()
        out = net(xb)
        loss = log_cosh(out.squeeze(-1), yb)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optim.step()
        running.append(loss.item())
    sched.step()
    print(f"[{epoch + 1:02d}] loss={np.mean(running):.4f} test MAE={test_mae():.3f} MW")

persist = np.abs(load[split:] - load[split - 1:-1]).mean()
mean_mae = np.abs(load[split:] - mu).mean()
print(f"test MAE {test_mae():.3f} MW | persistence {persist:.3f} MW | training mean {mean_mae:.3f} MW")
