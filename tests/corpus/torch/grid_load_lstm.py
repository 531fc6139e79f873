# One hour ahead forecast of the electricity load with a stateful LSTM.
# The year is cut into parallel streams, the state runs on from chunk to chunk.
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(2)
rng = np.random.default_rng(2)

hours = np.arange(24 * 360)
load = (
    1.0 * np.sin(2 * np.pi * hours / 24)
    + 0.5 * np.sin(2 * np.pi * hours / (24 * 7))
    + 0.4 * np.sin(4 * np.pi * hours / 24 + 0.5)
    + 0.1 * rng.standard_normal(len(hours))
)
series = torch.tensor((load - load.mean()) / load.std(), dtype=torch.float32)

n_streams = 12
streams = series.view(n_streams, -1, 1)      # 12 streams of 30 days
train, held_out = streams[:10], streams[10:]
chunk = 48


class LoadForecaster(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def initial_state(self, batch):
        return torch.zeros(1, batch, self.hidden), torch.zeros(1, batch, self.hidden)

    def forward(self, x, state):
        y, state = self.lstm(x, state)
        return self.out(y), state


def chunks(data):
    for start in range(0, data.size(1) - chunk - 1, chunk):
        yield data[:, start:start + chunk], data[:, start + 1:start + chunk + 1]


def validate(model):
    model.eval()
    state = model.initial_state(held_out.size(0))
    total, k = 0.0, 0
    with torch.no_grad():
        for x, y in chunks(held_out):
            pred, state = model(x, state)
            total += nn.functional.mse_loss(pred, y).item()
            k += 1
    return total / k


model = LoadForecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(1, 26):
    model.train()
    state = model.initial_state(train.size(0))
    epoch_loss = []
    for x, y in chunks(train):
        pred, state = model(x, state)
        loss = criterion(pred, y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        epoch_loss.append(loss.item())
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  train mse {np.mean(epoch_loss):.4f}  held out {validate(model):.4f}")

naive = ((held_out[:, 1:] - held_out[:, :-1]) ** 2).mean().item()
print(f"for comparison, load(t+1) = load(t): {naive:.4f}")
