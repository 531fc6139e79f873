import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

SEQ_LEN = 48
N_CHANNELS = 3
HIDDEN = 32
ACTIVITIES = ["walk", "run", "stairs", "sit"]


def make_windows(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(SEQ_LEN) / SEQ_LEN
    labels = rng.integers(0, 4, n)
    freq = np.array([3.0, 7.0, 3.0, 0.5])[labels]
    amp = np.array([1.0, 1.2, 1.0, 0.2])[labels]
    tilt = np.array([0.0, 0.0, 0.9, 0.0])[labels]
    phase = rng.uniform(0, 2 * np.pi, (n, N_CHANNELS, 1))
    wave = amp[:, None, None] * np.sin(2 * np.pi * freq[:, None, None] * t + phase)
    wave[:, 2] += tilt[:, None]
    wave += 0.2 * rng.normal(size=wave.shape)
    return wave.transpose(0, 2, 1).astype(np.float32), labels


class ActivityGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(N_CHANNELS, HIDDEN)
        self.fc = nn.Linear(HIDDEN, len(ACTIVITIES))

    def forward(self, x):
        # GRU wants (seq, batch, features)
        x = x.view(SEQ_LEN, x.size(0), N_CHANNELS)
        out, h = self.gru(x)
        return self.fc(h[-1])


torch.manual_seed(1)
Xtr, ytr = make_windows(1600, 0)
Xte, yte = make_windows(400, 1)
train_dl = DataLoader(TensorDataset(torch.tensor(Xtr), torch.tensor(ytr)), batch_size=32, shuffle=True)
test_dl = DataLoader(TensorDataset(torch.tensor(Xte), torch.tensor(yte)), batch_size=32)

model = ActivityGRU()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(15):
    model.train()
    losses = []
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    correct = 0
    with torch.no_grad():
        for xb, yb in test_dl:
            correct += (model(xb).argmax(1) == yb).sum().item()
    print("Epoch: %d, loss: %.4f, test acc: %.3f" % (epoch + 1, np.mean(losses), correct / len(yte)))
