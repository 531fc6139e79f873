"""Implicit-feedback recommender (BPR matrix factorisation) against popularity and binary baselines."""
from dataclasses import dataclass
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Cfg:
    users: int = 400
    items: int = 250
    dim: int = 16
    epochs: int = 30
    lr: float = 0.02
    batch: int = 1024
    seed: int = 7


def listening_log(c):
    rng = np.random.default_rng(c.seed)
    genre = rng.integers(0, 8, c.items)
    taste = rng.dirichlet(np.full(8, 0.25), c.users)
    pop = rng.pareto(1.5, c.items) + 0.3
    train, held = [], []
    for u in range(c.users):
        p = taste[u][genre] * pop
        p /= p.sum()
        n = min(int(rng.integers(12, 30)), int((p > 0).sum()))
        liked = rng.choice(c.items, n, replace=False, p=p)
        liked = rng.permutation(liked)      # choice() draws the popular ones first
        train.append(liked[3:])
        held.append(liked[:3])
    return genre, train, held


class BPR(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.u = nn.Embedding(c.users, c.dim, sparse=True)
        self.i = nn.Embedding(c.items, c.dim, sparse=True)
        self.b = nn.Embedding(c.items, 1, sparse=True)
        for e, s in ((self.u, 0.1), (self.i, 0.1), (self.b, 0.0)):
            nn.init.normal_(e.weight, std=s) if s else nn.init.zeros_(e.weight)

    def score(self, u, i):
        return (self.u(u) * self.i(i)).sum(-1) + self.b(i).squeeze(-1)

    @torch.no_grad()
    def matrix(self):
        return (self.u.weight @ self.i.weight.T + self.b.weight.T).numpy()


def recall_ndcg(scores, train, held, k=10):
    """scores: users x items. Ties (binary baselines have hundreds) get a random but fixed order."""
    noise = np.random.default_rng(0).random(scores.shape)
    rec, gain = [], []
    for u, want in enumerate(held):
        s = scores[u].astype(np.float64).copy()
        s[train[u]] = -np.inf
        top = np.lexsort((noise[u], -s))[:k]
        hit = np.isin(top, want)
        rec.append(hit.sum() / len(want))
        gain.append((hit / np.log2(np.arange(2, k + 2))).sum()
                    / (1 / np.log2(np.arange(2, len(want) + 2))).sum())
    return np.mean(rec), np.mean(gain)


def main(c=Cfg()):
    torch.manual_seed(c.seed)
    genre, train, held = listening_log(c)
    us = torch.tensor(np.concatenate([[u] * len(t) for u, t in enumerate(train)]))
    it = torch.tensor(np.concatenate(train))
    seen = torch.zeros(c.users, c.items, dtype=torch.bool)
    seen[us, it] = True
    net = BPR(c)
    opt = torch.optim.SparseAdam(list(net.parameters()), lr=c.lr)
    for ep in range(c.epochs):
        order = torch.randperm(len(us))
        tot = n = 0
        for o in order.split(c.batch):
            u, pos = us[o], it[o]
            neg = torch.randint(c.items, (len(o),))
            ok = ~seen[u, neg]            # a drawn "negative" that was in fact played is dropped
            u, pos, neg = u[ok], pos[ok], neg[ok]
            reg = net.u(u).pow(2).mean() + net.i(pos).pow(2).mean() + net.i(neg).pow(2).mean()
            loss = -F.logsigmoid(net.score(u, pos) - net.score(u, neg)).mean() + 0.05 * reg
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot, n = tot + loss.item() * len(u), n + len(u)
        if ep % 6 == 5:
            print(f"epoch {ep + 1} loss {tot / n:.4f}")
    count = np.bincount(it.numpy(), minlength=c.items)
    same = np.zeros((c.users, c.items))
    for u, t in enumerate(train):
        fav = np.bincount(genre[t], minlength=8).argmax()
        same[u] = genre == fav
    table = {"bpr": net.matrix(),
             "popularity": np.tile(count, (c.users, 1)),
             "is a top-25 hit (0/1)": np.tile(count >= np.sort(count)[-25], (c.users, 1)).astype(float),
             "is favourite genre (0/1)": same,
             "constant": np.ones((c.users, c.items))}
    for name, s in table.items():
        print("%-26s recall@10 %.3f  ndcg@10 %.3f" % (name, *recall_ndcg(s, train, held)))


if __name__ == "__main__":
    main()
