import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

random.seed(12)
torch.manual_seed(12)
starts = ["bra", "kel", "mor", "tun", "hol", "ves", "lin", "gar", "os", "ber"]
endings = {"english": ["ton", "ham", "bury"], "german": ["dorf", "heim", "stadt"], "norse": ["vik", "nes", "fjord"]}
langs = list(endings)
rows = []
for _ in range(1500):
    k = random.randrange(3)
    name = random.choice(starts) + random.choice(["", "a", "en", "er"]) + random.choice(endings[langs[k]])
    rows.append((name, k))
letters = sorted({c for name, _ in rows for c in name})
index = {c: i + 1 for i, c in enumerate(letters)}


def collate(batch):
    seqs = [torch.tensor([index[c] for c in name]) for name, _ in batch]
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor([k for _, k in batch])


class NameGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(letters) + 1, 16, padding_idx=0)
        self.gru = nn.GRU(16, 48, batch_first=True)
        self.fc = nn.Linear(48, len(langs))

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.fc(h[-1])


train_loader = DataLoader(rows[:1200], batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(rows[1200:], batch_size=64, collate_fn=collate)
model = NameGRU()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    model.train()
    total = 0.0
    for x, lengths, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x, lengths), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        correct = sum((model(x, n).argmax(1) == y).sum().item() for x, n, y in test_loader)
    print(f"epoch {epoch + 1} loss {total / len(train_loader):.4f} acc {correct / 300:.3f}")
