import math
import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

random.seed(3)
torch.manual_seed(3)


@dataclass
class Config:
    vocab: int = 300
    dim: int = 48
    heads: int = 4
    layers: int = 2
    max_len: int = 64
    classes: int = 4
    epochs: int = 5
    batch_size: int = 32
    lr: float = 1e-3


cfg = Config()


def make_document(topic):
    length = int(min(120, max(12, random.gauss(38, 12))))
    own = [20 + topic * 30 + random.randrange(30) for _ in range(length // 3)]
    rest = [140 + random.randrange(cfg.vocab - 140) for _ in range(length - len(own))]
    words = own + rest
    random.shuffle(words)
    return torch.tensor(words)


labels = [random.randrange(cfg.classes) for _ in range(1600)]
data = [(make_document(t), t) for t in labels]
train, test = data[:1300], data[1300:]


def collate(rows):
    ids = pad_sequence([r[0] for r in rows], batch_first=True, padding_value=0)
    return ids, ids == 0, torch.tensor([r[1] for r in rows])


class Positions(nn.Module):
    def __init__(self, dim, max_len):
        super().__init__()
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe = torch.zeros(1, max_len, dim)
        pe[0, :, 0::2] = torch.sin(pos * div)
        pe[0, :, 1::2] = torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class Classifier(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.dim, padding_idx=0)
        self.positions = Positions(cfg.dim, cfg.max_len)
        layer = nn.TransformerEncoderLayer(cfg.dim, cfg.heads, 96, 0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, cfg.layers, enable_nested_tensor=False)
        self.out = nn.Linear(cfg.dim, cfg.classes)

    def forward(self, ids, pad):
        h = self.positions(self.embed(ids))
        h = self.encoder(h, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).float()
        return self.out((h * keep).sum(1) / keep.sum(1))


model = Classifier(cfg)
optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
criterion = nn.CrossEntropyLoss()
train_loader = DataLoader(train, cfg.batch_size, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test, cfg.batch_size, collate_fn=collate)

for epoch in range(cfg.epochs):
    model.train()
    total = 0.0
    for ids, pad, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(ids, pad), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for ids, pad, y in test_loader:
            correct += (model(ids, pad).argmax(1) == y).sum().item()
    print(f"epoch {epoch} loss {total / len(train_loader):.3f} accuracy {correct / len(test):.3f}")
