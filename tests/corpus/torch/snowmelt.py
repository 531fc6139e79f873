import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(17)
torch.manual_seed(17)

# daily discharge of a mountain river, m3/s
days = np.arange(2200)
temperature = 6 - 12 * np.cos(2 * np.pi * days / 365) + np.random.normal(0, 2.5, len(days))
rain = np.random.gamma(0.4, 5.0, len(days))
snow, flow = 0.0, np.zeros(len(days))
store = 20.0
for i in range(len(days)):
    if temperature[i] < 0:
        snow += rain[i]
        melt = 0.0
    else:
        melt = min(snow, 0.6 * temperature[i])
        snow -= melt
        store += rain[i]
    store += melt
    flow[i] = 0.12 * store + np.random.normal(0, 0.05)
    store *= 0.88

features = np.stack([temperature, rain, flow], axis=1)
cut = 1800
mean, std = features[:cut].mean(0), features[:cut].std(0)
scaled = ((features - mean) / std).astype(np.float32)

WINDOW = 21


def windows(rows):
    x = np.stack([rows[i:i + WINDOW] for i in range(len(rows) - WINDOW)])
    y = rows[WINDOW:, 2]
    return torch.from_numpy(x), torch.from_numpy(y.copy())


x_train, y_train = windows(scaled[:cut])
x_test, y_test = windows(scaled[cut - WINDOW:])
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)


class RiverNet(nn.Module):
    def __init__(self, inputs=3, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 16), nn.ReLU(), nn.Linear(16, 1), nn.Softplus())

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1]).squeeze(-1)


model = RiverNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
loss_fn = nn.MSELoss()

for epoch in range(15):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(x)
    model.eval()
    with torch.no_grad():
        pred = model(x_test)
        val = loss_fn(pred, y_test).item()
    scheduler.step(val)
    nse = 1 - ((pred - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()
    print(f"epoch {epoch + 1:2d}  train {total / len(x_train):.4f}  test {val:.4f}  NSE {nse:.3f}")
