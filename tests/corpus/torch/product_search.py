import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(12)
torch.manual_seed(12)

N_WORDS, N_PRODUCTS, QUERY_LEN = 300, 1200, 6


def catalogue():
    topics = rng.integers(0, N_WORDS, size=(N_PRODUCTS, 12))
    return topics


def query_for(products):
    picks = np.stack([rng.choice(row, QUERY_LEN, replace=False) for row in products])
    swap = rng.random(picks.shape) < 0.15
    picks[swap] = rng.integers(0, N_WORDS, swap.sum())
    return picks


class Tower(nn.Module):
    def __init__(self, dim=64, out=48):
        super().__init__()
        self.words = nn.EmbeddingBag(N_WORDS, dim, mode="mean")
        self.project = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, out))

    def forward(self, ids):
        return F.normalize(self.project(self.words(ids)), dim=-1)


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = Tower()
        self.product = Tower()
        self.log_scale = nn.Parameter(torch.tensor(2.5))

    def forward(self, q, p):
        return self.log_scale.exp() * self.query(q) @ self.product(p).T


def pairs(table, batch):
    order = rng.permutation(len(table))
    for start in range(0, len(order) - batch + 1, batch):
        rows = table[order[start:start + batch]]
        yield torch.from_numpy(query_for(rows)), torch.from_numpy(rows)


@torch.no_grad()
def recall_at(model, table, queries, k):
    model.eval()
    scores = model(torch.from_numpy(queries), torch.from_numpy(table))
    best = scores.topk(k, dim=1).indices
    want = torch.arange(len(table)).unsqueeze(1)
    return (best == want).any(1).float().mean().item()


def fit(model, table, epochs=40, batch=100, lr=5e-3):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(1, epochs + 1):
        model.train()
        losses = []
        for q, p in pairs(table, batch):
            logits = model(q, p)
            labels = torch.arange(batch)
            loss = 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels))
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if epoch % 10 == 0:
            print(f"epoch {epoch:3d}  loss {np.mean(losses):.3f}  scale {model.log_scale.exp().item():.1f}")


def main():
    table = catalogue()
    seen, unseen = table[:1000], table[1000:]
    model = TwoTower()
    fit(model, seen)
    for name, part in (("seen products", seen), ("unseen products", unseen)):
        queries = query_for(part)
        print(f"{name}: recall@1 {recall_at(model, part, queries, 1):.3f}  recall@5 {recall_at(model, part, queries, 5):.3f}"
              f"  chance@1 {1 / len(part):.4f}")


if __name__ == "__main__":
    main()
