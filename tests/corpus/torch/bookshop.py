"""Two-tower recommender: readers and books, the other books of the batch are the negatives."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
g = torch.Generator().manual_seed(17)
READERS, BOOKS, TASTES = 500, 300, 8

reader_taste = torch.randint(0, TASTES, (READERS,), generator=g)
book_shelf = torch.randint(0, TASTES, (BOOKS,), generator=g)
book_pages = torch.rand(BOOKS, 1, generator=g)
shelves = [(book_shelf == k).nonzero().flatten() for k in range(TASTES)]

purchases = []
for r in range(READERS):
    own = shelves[int(reader_taste[r])]
    picks = own[torch.randperm(len(own), generator=g)[:12]].tolist()
    picks += torch.randint(0, BOOKS, (2,), generator=g).tolist()
    purchases.append(picks)
train = torch.tensor([(r, b) for r in range(READERS) for b in purchases[r][2:]])
test = torch.tensor([(r, purchases[r][0]) for r in range(READERS)])
popularity = torch.bincount(train[:, 1], minlength=BOOKS).float() + 1
log_q = torch.log(popularity / popularity.sum())


class Towers(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.reader = nn.Sequential(nn.Embedding(READERS, dim), nn.Linear(dim, dim))
        self.book = nn.Embedding(BOOKS, dim)
        self.book_mlp = nn.Sequential(nn.Linear(dim + 1, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.log_scale = nn.Parameter(torch.tensor(math.log(10.0)))

    def readers(self, ids):
        return F.normalize(self.reader(ids), dim=-1)

    def books(self, ids):
        return F.normalize(self.book_mlp(torch.cat([self.book(ids), book_pages[ids]], -1)), dim=-1)

    def forward(self, readers, books):
        return self.log_scale.exp().clamp(max=50) * self.readers(readers) @ self.books(books).T


def recall_at(model, k):
    model.eval()
    with torch.no_grad():
        scores = model.readers(torch.arange(READERS)) @ model.books(torch.arange(BOOKS)).T
        for r, b in train.tolist():
            scores[r, b] = -1e4
        top = scores.topk(k, dim=1).indices
    return (top == test[:, 1:2]).any(1).float().mean().item()


model = Towers()
decay = [p for p in model.parameters() if p.ndim > 1]
no_decay = [p for p in model.parameters() if p.ndim <= 1]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 1e-4}, {"params": no_decay, "weight_decay": 0.0}], lr=5e-3)
print(f"before training recall@20 {recall_at(model, 20):.3f}")
for epoch in range(15):
    model.train()
    total, batches = 0.0, 0
    for rows in torch.randperm(len(train)).split(256):
        readers, books = train[rows].unbind(1)
        logits = model(readers, books) - log_q[books]
        same = (books[None] == books[:, None]) & ~torch.eye(len(books), dtype=torch.bool)
        logits = logits.masked_fill(same, -1e4)
        loss = F.cross_entropy(logits, torch.arange(len(books)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, batches = total + loss.item(), batches + 1
    print(f"epoch {epoch + 1} loss {total / batches:.3f} scale {model.log_scale.exp().item():.1f} recall@20 {recall_at(model, 20):.3f}")
