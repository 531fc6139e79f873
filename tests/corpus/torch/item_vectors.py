"""Item-to-item vectors from shopping baskets: skip-gram with sampled and in-basket-category hard negatives.

Sparse gradients, SparseAdam, and one table that serves both as input and output vectors (symmetric scores).
"""
import collections
import os
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N_ITEMS, N_THEMES, DIM = 600, 40, 24


def make_baskets(n, seed):
    """A basket is driven by one or two themes (recipes); departments cut across the themes."""
    world = np.random.default_rng(0)
    theme_of = world.integers(0, N_THEMES, N_ITEMS)
    department_of = world.integers(0, 12, N_ITEMS)
    pop = world.pareto(1.6, N_ITEMS) + 0.2
    members = [np.flatnonzero(theme_of == t) for t in range(N_THEMES)]
    weights = [pop[m] / pop[m].sum() for m in members]
    rng = np.random.default_rng(seed)
    baskets = []
    for _ in range(n):
        items = []
        for t in rng.choice(N_THEMES, rng.integers(1, 3), replace=False):
            k = min(rng.integers(2, 6), len(members[t]))
            items += rng.choice(members[t], k, replace=False, p=weights[t]).tolist()
        items += rng.choice(N_ITEMS, rng.integers(0, 3), p=pop / pop.sum()).tolist()
        baskets.append(list(dict.fromkeys(items)))
    return baskets, theme_of, department_of


def pairs_of(baskets):
    rows = [(a, b) for basket in baskets for a in basket for b in basket if a != b]
    return torch.tensor(rows)


class ItemVectors(nn.Module):
    def __init__(self):
        super().__init__()
        self.vec = nn.Embedding(N_ITEMS, DIM, sparse=True)
        self.log_scale = nn.Parameter(torch.tensor(1.5))
        nn.init.normal_(self.vec.weight, std=0.3)

    def score(self, a, b):
        """Scaled cosine between vectors of a (B,) and b (B,) or (B, K)."""
        va = F.normalize(self.vec(a), dim=-1)
        vb = F.normalize(self.vec(b), dim=-1)
        if vb.dim() == 3:
            va = va[:, None]
        return self.log_scale.exp() * (va * vb).sum(-1)


class NegativeSampler:
    """Half of the negatives by popularity^0.75, half from the department of the positive item."""

    def __init__(self, counts, department, k, seed=0):
        self.gen = torch.Generator().manual_seed(seed)
        self.p = counts.float().clamp(min=1).pow(0.75)
        self.easy, self.hard = k // 2, k - k // 2
        self.table = torch.stack([torch.from_numpy(np.resize(np.flatnonzero(department == department[i]), 80))
                                  for i in range(N_ITEMS)])

    def __call__(self, positive):
        b = len(positive)
        easy = torch.multinomial(self.p, b * self.easy, replacement=True, generator=self.gen).view(b, -1)
        cols = torch.randint(0, self.table.size(1), (b, self.hard), generator=self.gen)
        return torch.cat([easy, self.table[positive].gather(1, cols)], dim=1)


@torch.no_grad()
def leave_one_out(model, baskets, k=10):
    """Hide one item per basket, rank all others by mean similarity to the rest: hit@k."""
    v = F.normalize(model.vec.weight, dim=1)
    rng = np.random.default_rng(5)
    hits = total = 0
    for basket in baskets:
        if len(basket) < 3:
            continue
        hidden = basket[rng.integers(len(basket))]
        rest = [i for i in basket if i != hidden]
        scores = (v @ v[rest].T).amax(1)
        scores[rest] = -2
        hits += hidden in scores.topk(k).indices.tolist()
        total += 1
    return hits / total


def popularity_hit(counts, baskets, k=10):
    top = set(counts.topk(k).indices.tolist())
    return float(np.mean([np.mean([i in top for i in b]) for b in baskets]))


def main():
    torch.manual_seed(0)
    train, _, department = make_baskets(5000, 1)
    held, _, _ = make_baskets(1000, 2)
    pairs = pairs_of(train)
    counts = torch.bincount(pairs[:, 1], minlength=N_ITEMS)
    print(f"{len(pairs)} pairs; popularity hit@10 {popularity_hit(counts, held):.3f}")

    model = ItemVectors()
    negatives = NegativeSampler(counts, department, k=10)
    opts = [torch.optim.SparseAdam(list(model.vec.parameters()), lr=0.03),
            torch.optim.SGD([model.log_scale], lr=0.02)]
    print(f"before training hit@10 {leave_one_out(model, held):.3f}")
    for epoch in range(4):
        tic, seen = time.time(), collections.deque(maxlen=100)
        for idx in torch.randperm(len(pairs)).split(1024):
            a, b = pairs[idx].unbind(1)
            neg = negatives(b)
            logit_neg = model.score(a, neg).masked_fill((neg == a[:, None]) | (neg == b[:, None]), -30.0)
            logits = torch.cat([model.score(a, b)[:, None], logit_neg], dim=1)
            loss = F.cross_entropy(logits, torch.zeros(len(idx), dtype=torch.long))
            for o in opts:
                o.zero_grad()
            loss.backward()
            for o in opts:
                o.step()
            seen.append(loss.item())
        print(f"epoch {epoch + 1} loss {np.mean(seen):.3f} scale {model.log_scale.exp().item():.1f} "
              f"hit@10 {leave_one_out(model, held):.3f} ({time.time() - tic:.1f}s)")
    os.makedirs("out", exist_ok=True)
    np.save("out/item_vectors.npy", model.vec.weight.detach().numpy())


if __name__ == "__main__":
    main()
