# water level behind the mill, one long record read in consecutive windows
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)

N = 12000
t = np.arange(N)
level = np.sin(2 * np.pi * t / 48) + 0.5 * np.sin(2 * np.pi * t / 310) + 0.05 * rng.standard_normal(N)
level = torch.tensor(level, dtype=torch.float32)

TRACKS, WINDOW = 8, 50
record = level[: N // TRACKS * TRACKS].view(TRACKS, -1, 1)
train_part, test_part = record[:, :1200], record[:, 1200:]


class Gauge(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        return self.out(h), state


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Gauge().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()
AHEAD = 6

for epoch in range(12):
    model.train()
    state = None
    losses = []
    for start in range(0, train_part.size(1) - WINDOW - AHEAD, WINDOW):
        x = train_part[:, start:start + WINDOW].to(device)
        y = train_part[:, start + AHEAD:start + WINDOW + AHEAD].to(device)
        optimizer.zero_grad()
        pred, state = model(x, state)
        loss = criterion(pred, y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch + 1} mse {np.mean(losses):.4f}")

model.eval()
with torch.no_grad():
    x, y = test_part[:, :-AHEAD].to(device), test_part[:, AHEAD:].to(device)
    pred, _ = model(x)
    mse = criterion(pred[:, 50:], y[:, 50:]).item()
    naive = criterion(x[:, 50:], y[:, 50:]).item()
print(f"test mse {mse:.4f}, persistence {naive:.4f}")
