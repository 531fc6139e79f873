"""Item vectors from baskets (skip-gram with sampled negatives): sparse tables and a dense projector, an optimizer for each."""
from collections import defaultdict
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

ITEMS, GROUPS = 600, 12


def baskets(n, g):
    group_of = np.arange(ITEMS) % GROUPS
    out = []
    for _ in range(n):
        k = g.integers(GROUPS)
        own = np.flatnonzero(group_of == k)
        out.append(np.where(g.random(6) < 0.85, g.choice(own, 6), g.integers(0, ITEMS, 6)))
    return np.stack(out), group_of


class Item2Vec(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.centre = nn.Embedding(ITEMS, dim, sparse=True)
        self.context = nn.Embedding(ITEMS, dim, sparse=True)
        self.project = nn.Linear(dim, dim)
        nn.init.uniform_(self.centre.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.context.weight)

    def forward(self, c, pos, neg):
        v = self.project(self.centre(c))
        p = (v * self.context(pos)).sum(-1)
        n = (v.unsqueeze(1) * self.context(neg)).sum(-1)
        return -(F.logsigmoid(p) + F.logsigmoid(-n).sum(1)).mean()


def neighbours_same_group(model, group_of):
    with torch.no_grad():
        v = F.normalize(model.project(model.centre.weight), dim=1)
        s = v @ v.T
        s.fill_diagonal_(-2)
        best = s.topk(10, dim=1).indices.numpy()
    return float((group_of[best] == group_of[:, None]).mean())


def main():
    g = np.random.default_rng(9)
    torch.manual_seed(9)
    data, group_of = baskets(9000, g)
    i, j = np.triu_indices(6, 1)
    pairs = torch.from_numpy(np.concatenate([data[:, [a, b]] for a, b in zip(i, j)]))
    model = Item2Vec()
    opts = [torch.optim.SparseAdam([model.centre.weight, model.context.weight], lr=5e-3),
            torch.optim.AdamW(model.project.parameters(), lr=1e-3)]
    history = defaultdict(list)
    print("before:", neighbours_same_group(model, group_of))
    for epoch in range(12):
        for k in torch.randperm(len(pairs)).split(512):
            c, p = pairs[k].T
            loss = model(c, p, torch.randint(0, ITEMS, (len(k), 5)))
            for o in opts:
                o.zero_grad()
            loss.backward()
            for o in opts:
                o.step()
            history[epoch].append(loss.item())
        print(f"epoch {epoch}: loss {np.mean(history[epoch]):.3f}, neighbours of the same group {neighbours_same_group(model, group_of):.3f}")


if __name__ == "__main__":
    main()
