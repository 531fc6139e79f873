"""Route short parcel notes to a depot desk (last instruction in the note decides)."""
import random
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

random.seed(3)
np.random.seed(3)
torch.manual_seed(3)

ACTIONS = {
    "return": 0, "refuse": 0, "sendback": 0,
    "hold": 1, "wait": 1, "keep": 1,
    "forward": 2, "redirect": 2, "reroute": 2,
    "deliver": 3, "drop": 3, "handover": 3,
}
FILLER = ("please the parcel box with blue label at front door number and then today customer says "
          "call before ring twice neighbour garage fragile heavy small large near bridge").split()
VOCAB = ["<pad>"] + FILLER + list(ACTIONS)
STOI = {w: i for i, w in enumerate(VOCAB)}
MAX_LEN = 96


def make_note():
    n = random.randint(6, 16)
    words = [random.choice(FILLER) for _ in range(n)]
    spots = sorted(random.sample(range(n), 3))
    act = None
    for s in spots:
        act = random.choice(list(ACTIONS))
        words[s] = act
    return words, ACTIONS[act]


class Notes(Dataset):
    def __init__(self, n):
        self.items = [make_note() for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        words, y = self.items[i]
        return [STOI[w] for w in words], y


def pad_batch(items):
    ids = torch.zeros(len(items), MAX_LEN, dtype=torch.long)
    ys = torch.tensor([y for _, y in items])
    for row, (seq, _) in enumerate(items):
        ids[row, :len(seq)] = torch.tensor(seq)
    return ids, ys


class DeskRouter(nn.Module):
    def __init__(self, vocab, dim=32, hidden=64, n_out=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(hidden, n_out)

    def forward(self, ids):
        h, _ = self.rnn(self.emb(ids))
        return self.out(self.drop(h[:, -1]))


def accuracy(model, loader):
    model.eval()
    good = tot = 0
    with torch.no_grad():
        for x, y in loader:
            good += (model(x).argmax(1) == y).sum().item()
            tot += len(y)
    return good / tot


train = DataLoader(Notes(3000), batch_size=64, shuffle=True, collate_fn=pad_batch)
val = DataLoader(Notes(600), batch_size=128, collate_fn=pad_batch)
model = DeskRouter(len(VOCAB))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
lossf = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    total = 0.0
    for x, y in train:
        opt.zero_grad()
        loss = lossf(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(train):.4f} val_acc {accuracy(model, val):.3f}")
