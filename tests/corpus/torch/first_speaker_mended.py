"""Who spoke first?  A call transcript is a row of word ids; exactly one GREETING by the caller
(id 1) and one by the agent (id 2) are in it.  Predict which of them came first."""
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
rng = np.random.default_rng(3)

VOCAB, LEN, DIM = 40, 24, 48


def make_calls(n):
    ids = rng.integers(3, VOCAB, size=(n, LEN))
    label = rng.integers(0, 2, size=n)
    for row, lab in zip(ids, label):
        a, b = sorted(rng.choice(LEN, 2, replace=False))
        row[a], row[b] = (1, 2) if lab == 0 else (2, 1)
    return TensorDataset(torch.from_numpy(ids), torch.from_numpy(label))


class SinePositions(nn.Module):
    def __init__(self, dim, max_len=512):
        super().__init__()
        pos = torch.arange(max_len).unsqueeze(1)
        freq = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe = torch.zeros(max_len, 1, dim)
        pe[:, 0, 0::2] = torch.sin(pos * freq)
        pe[:, 0, 1::2] = torch.cos(pos * freq)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)].transpose(0, 1)


class CallModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.pos = SinePositions(DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 96, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(DIM, 2)

    def forward(self, ids):
        h = self.enc(self.pos(self.emb(ids)))
        return self.head(h.mean(1))


def accuracy(model, loader):
    model.eval()
    hit = n = 0
    with torch.no_grad():
        for ids, lab in loader:
            hit += (model(ids).argmax(1) == lab).sum().item()
            n += len(lab)
    return hit / n


train = DataLoader(make_calls(4000), batch_size=64, shuffle=True)
test = DataLoader(make_calls(1000), batch_size=250)
model = CallModel()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(8):
    model.train()
    total = 0.0
    for ids, lab in train:
        loss = nn.functional.cross_entropy(model(ids), lab)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(lab)
    print(f"epoch {epoch} loss {total / len(train.dataset):.4f} test acc {accuracy(model, test):.3f}")
