"""Two-tower retrieval of books for readers. Sparse tables and dense towers have their own optimizers."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N_READERS, N_BOOKS, N_GENRES = 500, 240, 12


def interactions(n, reader_taste, book_genre, rng):
    readers = rng.integers(0, N_READERS, n)
    books = np.empty(n, dtype=np.int64)
    for i, r in enumerate(readers):
        g = reader_taste[r, 0] if rng.random() < 0.7 else reader_taste[r, 1]
        books[i] = rng.choice(np.flatnonzero(book_genre == g))
    return torch.tensor(readers), torch.tensor(books)


class Tower(nn.Module):
    def __init__(self, n, dim=32, out=24):
        super().__init__()
        self.table = nn.Embedding(n, dim, sparse=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, out))

    def forward(self, ids):
        return F.normalize(self.mlp(self.table(ids)), dim=-1)


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.reader = Tower(N_READERS)
        self.book = Tower(N_BOOKS)
        self.log_scale = nn.Parameter(torch.tensor(math.log(10.0)))

    def forward(self, r, b):
        scores = self.log_scale.exp() * self.reader(r) @ self.book(b).T
        same = (b[:, None] == b[None, :]) & ~torch.eye(len(b), dtype=torch.bool)
        return scores.masked_fill(same, -1e4)


def genre_precision(model, taste, genre, k=10):
    model.eval()
    with torch.no_grad():
        sims = model.reader(torch.arange(N_READERS)) @ model.book(torch.arange(N_BOOKS)).T
    top = genre[sims.topk(k).indices.numpy()]
    return float((top[:, :, None] == taste[:, None, :]).any(-1).mean())


def main():
    rng = np.random.default_rng(6)
    torch.manual_seed(6)
    genre = np.arange(N_BOOKS) % N_GENRES
    taste = np.stack([rng.choice(N_GENRES, 2, replace=False) for _ in range(N_READERS)])
    readers, books = interactions(12000, taste, genre, rng)
    model = TwoTowers()
    tables = [model.reader.table.weight, model.book.table.weight]
    dense = [p for n, p in model.named_parameters() if "table" not in n]
    opt_sparse = torch.optim.SparseAdam(tables, lr=0.01)
    opt_dense = torch.optim.AdamW(dense, lr=2e-3, weight_decay=1e-4)
    print(f"chance {2 / N_GENRES:.3f}")
    for epoch in range(15):
        model.train()
        losses = []
        for idx in torch.randperm(len(readers)).split(128):
            logits = model(readers[idx], books[idx])
            loss = F.cross_entropy(logits, torch.arange(len(idx)))
            opt_sparse.zero_grad()
            opt_dense.zero_grad()
            loss.backward()
            opt_sparse.step()
            opt_dense.step()
            with torch.no_grad():
                model.log_scale.clamp_(max=math.log(50.0))
            losses.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(losses):.3f} scale {model.log_scale.exp().item():.1f} "
              f"precision@10 {genre_precision(model, taste, genre):.3f}")


if __name__ == "__main__":
    main()
