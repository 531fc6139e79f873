import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

KINDS = ["rising", "falling", "steady"]


class ChirpDataset(Dataset):
    """Short whistles of different duration, framed into band energies."""

    def __init__(self, n, seed, bands=12):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(n):
            kind = int(rng.integers(len(KINDS)))
            frames = int(rng.integers(12, 45))
            start = rng.uniform(3, 8)
            sweep = {0: 1, 1: -1, 2: 0}[kind] * rng.uniform(2.0, 3.5)
            track = start + np.linspace(0, sweep, frames)
            grid = np.arange(bands)[None, :]
            energy = np.exp(-0.5 * ((grid - track[:, None]) / 0.8) ** 2)
            energy += 0.25 * rng.normal(size=energy.shape)
            self.items.append((torch.tensor(energy, dtype=torch.float32), kind))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    batch = sorted(batch, key=lambda item: len(item[0]), reverse=True)
    labels = torch.tensor([kind for _, kind in batch])
    lengths = torch.tensor([len(x) for x, _ in batch])
    padded = pad_sequence([x for x, _ in batch], batch_first=True)
    return padded, lengths, labels


class WhistleClassifier(nn.Module):
    def __init__(self, bands=12, hidden=40):
        super().__init__()
        self.norm = nn.LayerNorm(bands)
        self.rnn = nn.GRU(bands, hidden, batch_first=True)
        self.out = nn.Linear(hidden, len(KINDS))

    def forward(self, padded, lengths):
        packed = pack_padded_sequence(self.norm(padded), lengths, batch_first=True)
        _, h = self.rnn(packed)
        return self.out(h[-1])


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float("inf"), 0

    def __call__(self, value):
        if value < self.best - 1e-4:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def evaluate(model, loader, criterion):
    model.eval()
    hits, total, loss = 0, 0, 0.0
    with torch.no_grad():
        for x, lengths, y in loader:
            logits = model(x, lengths)
            loss += criterion(logits, y).item() * len(y)
            hits += (logits.argmax(1) == y).sum().item()
            total += len(y)
    return loss / total, hits / total


torch.manual_seed(7)
train_loader = DataLoader(ChirpDataset(900, seed=1), batch_size=32, shuffle=True, collate_fn=collate)
val_loader = DataLoader(ChirpDataset(300, seed=2), batch_size=64, collate_fn=collate)
test_loader = DataLoader(ChirpDataset(300, seed=3), batch_size=64, collate_fn=collate)

model = WhistleClassifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-2)
stopper = EarlyStopping(patience=6)

for epoch in range(20):
    model.train()
    seen, running = 0, 0.0
    for x, lengths, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x, lengths), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item() * len(y)
        seen += len(y)
    val_loss, val_acc = evaluate(model, val_loader, criterion)
    print(f"epoch {epoch:2d}  train {running / seen:.3f}  val {val_loss:.3f}  val acc {val_acc:.3f}")
    if stopper(val_loss):
        print("early stop")
        break

test_loss, test_acc = evaluate(model, test_loader, criterion)
print(f"test loss {test_loss:.3f}  test accuracy {test_acc:.3f}  (chance 0.333)")
