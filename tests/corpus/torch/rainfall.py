import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

np.random.seed(8)
torch.manual_seed(8)


def make_series(days=2600):
    t = np.arange(days)
    season = 3.0 + 2.0 * np.sin(2 * np.pi * t / 365.25)
    wet = np.zeros(days)
    for i in range(1, days):
        wet[i] = 0.85 * wet[i - 1] + np.random.randn() * 0.5
    return (season + 1.5 * wet).astype("float32")


class Windows(Dataset):
    def __init__(self, series, length=21):
        self.series, self.length = series, length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, i):
        window = self.series[i:i + self.length]
        return torch.from_numpy(window).unsqueeze(-1), torch.tensor(self.series[i + self.length])


class RainNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(h[-1])


def rmse(pred, target):
    return torch.sqrt(((pred - target) ** 2).mean() + 1e-8)


series = make_series()
mean, std = series[:2000].mean(), series[:2000].std()
series = (series - mean) / std
train_loader = DataLoader(Windows(series[:2000]), batch_size=32, shuffle=True)
test_loader = DataLoader(Windows(series[2000:]), batch_size=32)

model = RainNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    model.train()
    losses = []
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = rmse(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch + 1:2d}  train rmse {np.mean(losses):.3f}")

model.eval()
preds, truth = [], []
with torch.no_grad():
    for x, y in test_loader:
        preds.extend(model(x).flatten().tolist())
        truth.extend(y.tolist())
preds, truth = np.array(preds), np.array(truth)
print(f"test rmse {np.sqrt(((preds - truth) ** 2).mean()) * std:.3f} mm")
print(f"test r2 {1 - ((preds - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum():.3f}")
