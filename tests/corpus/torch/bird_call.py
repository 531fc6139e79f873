# Bird-call recogniser: raw 1-D waveform -> conv encoder -> 16-d feature -> species head.
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize
from torch.utils.data import DataLoader, TensorDataset

SR = 2000
DUR = 0.4
SPECIES = ["up-sweep", "down-sweep", "trill", "two-note", "warble"]

torch.manual_seed(3)
rng = np.random.default_rng(3)


def synth_call(kind):
    t = np.arange(int(SR * DUR)) / SR
    f0 = rng.uniform(180, 420)
    if kind == 0:
        f = f0 * (1 + 0.8 * t / DUR)
    elif kind == 1:
        f = f0 * (1.8 - 0.8 * t / DUR)
    elif kind == 2:
        f = np.full_like(t, f0 * 1.3)
    elif kind == 3:
        f = np.where(t < DUR / 2, f0, f0 * 1.6)
    else:
        f = f0 * (1.4 + 0.35 * np.sin(2 * math.pi * 9 * t))
    phase = 2 * math.pi * np.cumsum(f) / SR + rng.uniform(0, 2 * math.pi)
    wave = np.sin(phase)
    if kind == 2:
        wave *= 0.5 + 0.5 * np.sign(np.sin(2 * math.pi * 22 * t + rng.uniform(0, 6)))
    wave *= rng.uniform(0.6, 1.2)
    return (wave + rng.normal(0, 0.25, t.shape)).astype(np.float32)


labels = rng.integers(0, len(SPECIES), 2000)
waves = np.stack([synth_call(k) for k in labels])
x_tr, x_te, y_tr, y_te = train_test_split(waves, labels, test_size=0.25, stratify=labels, random_state=0)

train_dl = DataLoader(TensorDataset(torch.tensor(x_tr), torch.tensor(y_tr)), batch_size=64, shuffle=True)
test_dl = DataLoader(TensorDataset(torch.tensor(x_te), torch.tensor(y_te)), batch_size=250)


class WaveEncoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 16, 32, stride=4, padding=16), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 32, 9, stride=3, padding=4), nn.BatchNorm1d(32), nn.ReLU(),
            nn.Conv1d(32, 32, 5, stride=2, padding=2), nn.BatchNorm1d(32), nn.ReLU(),
            nn.AdaptiveAvgPool1d(4), nn.Flatten(),
        )
        self.proj = nn.Linear(32 * 4, dim)

    def forward(self, wav):
        return self.proj(self.net(wav.unsqueeze(1)))


encoder = WaveEncoder()
head = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, len(SPECIES)))


def unit_features(wav):
    """Encoder output scaled to unit length, so loud and soft calls compare."""
    z = encoder(wav).detach().cpu().numpy()
    z = normalize(z) * 4.0
    return torch.from_numpy(z)


params = list(encoder.parameters()) + list(head.parameters())
opt = torch.optim.AdamW(params, lr=2e-3, weight_decay=1e-3)
EPOCHS = 10
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=4e-3, total_steps=EPOCHS * len(train_dl))


@torch.no_grad()
def accuracy(loader):
    encoder.eval(), head.eval()
    hits = total = 0
    for wav, y in loader:
        hits += (head(unit_features(wav)).argmax(1) == y).sum().item()
        total += len(y)
    return hits / total


for epoch in range(1, EPOCHS + 1):
    encoder.train(), head.train()
    running = 0.0
    for wav, y in train_dl:
        loss = F.cross_entropy(head(unit_features(wav)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        running += loss.item() * len(y)
    print(f"epoch {epoch:2d}  loss {running / len(y_tr):.4f}  test acc {accuracy(test_dl):.3f}")

chance = np.bincount(y_te).max() / len(y_te)
print(f"final test accuracy {accuracy(test_dl):.3f}, most frequent species {chance:.3f}")
