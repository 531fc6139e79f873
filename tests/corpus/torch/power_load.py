# day-ahead load forecast with a dilated convolution net
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

rng = np.random.default_rng(11)
torch.manual_seed(11)
t = np.arange(24 * 220)
load = (50 + 12 * np.sin(2 * np.pi * t / 24) + 5 * np.sin(4 * np.pi * t / 24 + 1) - 8 * ((t // 24) % 7 >= 5)
        + 6 * np.sin(2 * np.pi * t / (24 * 60)))
ar = np.zeros(len(t))
for i in range(1, len(t)):
    ar[i] = 0.9 * ar[i - 1] + rng.normal(0, 0.8)
load = (load + ar).astype(np.float32)
split = 24 * 180
mean, std = load[:split].mean(), load[:split].std()
scaled = (load - mean) / std
LOOKBACK, HORIZON = 24 * 7, 24


class Windows(Dataset):
    def __init__(self, series, stride):
        self.series = torch.from_numpy(series)
        self.starts = range(0, len(series) - LOOKBACK - HORIZON + 1, stride)

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, i):
        s = self.starts[i]
        return self.series[s:s + LOOKBACK].unsqueeze(0), self.series[s + LOOKBACK:s + LOOKBACK + HORIZON]


train = DataLoader(Windows(scaled[:split], 2), batch_size=64, shuffle=True)
test = DataLoader(Windows(scaled[split - LOOKBACK:], 24), batch_size=64)


class TCN(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        chans = [1] + [width] * 5
        self.convs = nn.ModuleList(nn.Conv1d(a, width, 3, dilation=2 ** k) for k, a in enumerate(chans[:-1]))
        self.head = nn.Linear(width * 2 + 24, HORIZON)

    def forward(self, x):
        h = x
        for k, conv in enumerate(self.convs):
            z = torch.relu(conv(nn.functional.pad(h, (2 * 2 ** k, 0))))
            h = z + h if k else z
        return self.head(torch.cat([h[:, :, -1], h.mean(-1), x[:, 0, :24]], dim=1))


model = TCN()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
epochs = 12
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=epochs * len(train))
for epoch in range(epochs):
    model.train()
    total = 0.0
    for x, y in train:
        loss = nn.functional.smooth_l1_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        err = torch.cat([(model(x) - y).abs() for x, y in test]).mean().item() * std
        week = torch.cat([(x[:, 0, :24] - y).abs() for x, y in test]).mean().item() * std
    print(f"epoch {epoch + 1:2d} train {total / len(train):.4f}  test MAE {err:.2f} MW (same day last week: {week:.2f} MW)")
