import numpy as np, torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader, random_split

SEQ_LEN, CHANNELS = 40, 3
ACTIVITIES = ["walking", "running", "stairs", "cycling"]


class Accelerometer(Dataset):
    """Synthetic wrist accelerometer windows, three axes, 40 samples each."""

    def __init__(self, n_per_class=250, seed=3):
        g = np.random.default_rng(seed)
        t = np.arange(SEQ_LEN) / SEQ_LEN
        self.items = []
        for label, (freq, amp, skew) in enumerate([(2, 1.0, .0), (4, 1.2, .0), (2, 1.0, .9), (4, 1.2, .9)]):
            for _ in range(n_per_class):
                ph = g.uniform(0, 2 * np.pi)
                base = np.sin(2 * np.pi * freq * t + ph)
                harm = skew * np.sin(4 * np.pi * freq * t + 2 * ph)
                w = np.stack([amp * base, amp * (base + harm), .5 * harm], 1)
                w = w + g.normal(0, .5, w.shape)
                self.items.append((w.astype("float32"), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        w, y = self.items[i]
        return torch.from_numpy(w), y


class ActivityNet(nn.Module):
    def __init__(self, hidden=48, layers=1):
        super().__init__()
        self.lstm = nn.LSTM(CHANNELS, hidden, num_layers=layers, batch_first=True)
        self.head = nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, len(ACTIVITIES)))

    def forward(self, x):
        seq, _ = self.lstm(x)
        return self.head(seq[:, -1, :])


def accuracy(net, dl):
    net.eval()
    right = n = 0
    with torch.no_grad():
        for x, y in dl:
            right += (net(x).argmax(-1) == y).sum().item()
            n += y.numel()
    return right / n


torch.manual_seed(3)
full = Accelerometer()
train_ds, val_ds = random_split(full, [800, 200], generator=torch.Generator().manual_seed(3))
train_dl = DataLoader(train_ds, 40, shuffle=True)
val_dl = DataLoader(val_ds, 40)

net = ActivityNet()
optim = torch.optim.Adam(net.parameters(), 5e-3)
ce = nn.CrossEntropyLoss()

for epoch in range(8):
    net.train()
    losses = []
    for x, y in train_dl:
        optim.zero_grad()
        l = ce(net(x), y)
        l.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optim.step()
        losses.append(l.item())
    print("epoch", epoch, "loss", round(np.mean(losses), 4), "val acc", accuracy(net, val_dl))
