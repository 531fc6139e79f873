# Daily discharge of six gauges, next-day forecast with a stateful LSTM
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)

DAYS, GAUGES = 1600, 6
rain = rng.gamma(0.3, 4.0, size=(DAYS, GAUGES))
flow = np.zeros((DAYS, GAUGES))
soil = np.zeros(GAUGES)
k = rng.uniform(0.80, 0.92, GAUGES)
for d in range(1, DAYS):
    soil = 0.95 * soil + 0.4 * rain[d]
    flow[d] = k * flow[d - 1] + 0.1 * soil + 0.2 * rain[d - 1]
flow += rng.normal(0, 0.1, flow.shape)

cut = 1280
rain = (rain - rain[:cut].mean()) / rain[:cut].std()
flow = (flow - flow[:cut].mean(0)) / flow[:cut].std(0)
series = torch.tensor(np.stack([rain, flow], -1), dtype=torch.float32).transpose(0, 1)  # gauge, day, 2
train, test = series[:, :cut], series[:, cut:]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def start(self, rows):
        return torch.zeros(1, rows, self.hidden), torch.zeros(1, rows, self.hidden)

    def forward(self, x, h, c):
        y, (h, c) = self.lstm(x, (h, c))
        return self.out(y).squeeze(-1), h, c


model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
bptt = 40

for epoch in range(12):
    model.train()
    h, c = model.start(GAUGES)
    losses = []
    for i in range(0, cut - 1, bptt):
        x = train[:, i:i + bptt]
        y = train[:, i + 1:i + 1 + bptt, 1]
        x = x[:, :y.shape[1]]
        pred, h, c = model(x, h, c)
        loss = nn.functional.smooth_l1_loss(pred, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        h = h.detach()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        pred, _, _ = model(test[:, :-1], *model.start(GAUGES))
        mse = (pred - test[:, 1:, 1]).pow(2).mean().item()
    nse = 1 - mse / test[:, 1:, 1].var().item()
    print(f"epoch {epoch:2d} train {np.mean(losses):.4f} test mse {mse:.4f} NSE {nse:.3f}")
