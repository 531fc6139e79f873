import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
rng = np.random.default_rng(6)
LANES, CHUNK = 16, 24


def load_curve(lanes, hours):
    t = np.arange(hours)
    phase = rng.uniform(0, 24, (lanes, 1))
    daily = np.sin(2 * np.pi * (t + phase) / 24)
    level = np.zeros((lanes, hours))
    for i in range(1, hours):
        level[:, i] = 0.97 * level[:, i - 1] + 0.05 * rng.standard_normal(lanes)
    return (daily * (1 + 0.3 * level) + level + 0.05 * rng.standard_normal((lanes, hours))).astype("float32")


def to_loader(series):
    inputs, targets = series[:, :-1], series[:, 1:]
    chunks = inputs.shape[1] // CHUNK
    xs, ys = [], []
    for c in range(chunks):
        part = slice(c * CHUNK, (c + 1) * CHUNK)
        xs.append(inputs[:, part])
        ys.append(targets[:, part])
    x = torch.tensor(np.concatenate(xs)).unsqueeze(-1)
    y = torch.tensor(np.concatenate(ys)).unsqueeze(-1)
    return DataLoader(TensorDataset(x, y), batch_size=LANES, shuffle=False, drop_last=True)


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, h=None):
        z, h = self.gru(x, h)
        return x + self.out(z), h


def sweep(model, loader, optimizer=None):
    h, losses = None, []
    for x, y in loader:
        if h is not None:
            h = h.detach()
        with torch.set_grad_enabled(optimizer is not None):
            pred, h = model(x, h)
            loss = nn.functional.mse_loss(pred, y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses))


series = load_curve(LANES, 2400)
train_loader, test_loader = to_loader(series[:, :1900]), to_loader(series[:, 1900:])
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(20):
    train_mse = sweep(model, train_loader, optimizer)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:2d}  train mse {train_mse:.5f}")

test_mse = sweep(model, test_loader)
naive = np.mean([((y - x) ** 2).mean().item() for x, y in test_loader])
print(f"test mse {test_mse:.5f}, persistence {naive:.5f}, ratio {test_mse / naive:.3f}")
