"""
Wrist-band gesture recognition (accelerometer + gyroscope, 6 channels, 48 samples at 25 Hz).
Converted from the course notebook.
"""
# %% imports
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(2)
rng = np.random.default_rng(2)

GESTURES = ["flick-then-twist", "twist-then-flick", "twist-twist", "flick-flick"]
T, C = 48, 6


# %% data: each gesture is two strokes in a given order, followed by a rest of the arm
def stroke(kind, length):
    t = np.linspace(0, 1, length)
    bump = np.sin(np.pi * t)
    s = np.zeros((length, C))
    if kind == "flick":
        s[:, 0], s[:, 1] = 2.2 * bump * np.sin(4 * np.pi * t), 1.0 * bump
    else:
        s[:, 3], s[:, 4] = 2.0 * bump, -1.4 * bump * np.cos(2 * np.pi * t)
    return s * rng.uniform(0.7, 1.3)


def recording(label):
    x = rng.normal(0, 0.3, (T, C))
    pos = rng.integers(0, 8)
    for kind in GESTURES[label].split("-then-") if "then" in GESTURES[label] else GESTURES[label].split("-"):
        n = rng.integers(11, 16)
        x[pos:pos + n] += stroke(kind, n)
        pos += n + rng.integers(1, 6)
    return x


def make_split(n):
    y = rng.integers(0, len(GESTURES), n)
    x = np.stack([recording(k) for k in y])
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


train_ds, valid_ds, test_ds = make_split(1600), make_split(400), make_split(600)
train_dl = DataLoader(train_ds, batch_size=32, shuffle=True)
valid_dl = DataLoader(valid_ds, batch_size=100, shuffle=True)
test_dl = DataLoader(test_ds, batch_size=100, shuffle=True)


# %% model
class GestureNet(nn.Module):
    def __init__(self, n_in=C, hidden=48, n_out=len(GESTURES)):
        super().__init__()
        self.inp = nn.Linear(n_in, 32)
        self.rnn = nn.LSTM(32, hidden, num_layers=1)
        self.head = nn.Linear(hidden, n_out)

    def forward(self, x):
        h = torch.relu(self.inp(x))
        h, _ = self.rnn(h)
        return self.head(h[:, -1])


model = GestureNet().to(DEVICE)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=6, gamma=0.4)


# %% training
def loop(dl, train):
    model.train(train)
    total, correct, count = 0.0, 0, 0
    with torch.set_grad_enabled(train):
        for xb, yb in dl:
            xb, yb = xb.to(DEVICE), yb.to(DEVICE)
            out = model(xb)
            loss = criterion(out, yb)
            if train:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            total += loss.item() * len(yb)
            correct += (out.argmax(1) == yb).sum().item()
            count += len(yb)
    return total / count, correct / count


best, best_state = 0.0, None
for epoch in range(12):
    t0 = time.time()
    tl, ta = loop(train_dl, True)
    vl, va = loop(valid_dl, False)
    scheduler.step()
    if va > best:
        best, best_state = va, {k: v.clone() for k, v in model.state_dict().items()}
    print(f"{epoch + 1:2d}  train {tl:.3f}/{ta:.3f}  valid {vl:.3f}/{va:.3f}  {time.time() - t0:.1f}s")

# %% test
if best_state is not None:
    model.load_state_dict(best_state)
_, acc = loop(test_dl, False)
print(f"test accuracy {acc:.3f}  (four gestures, guessing gives 0.25)")
