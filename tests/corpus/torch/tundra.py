import random
from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Graph = namedtuple("Graph", "edges deg n y")


def ring_with_chords(n, rng):
    edges = {(i, (i + 1) % n) for i in range(n)}
    while len(edges) < 2 * n:
        a, b = rng.sample(range(n), 2)
        edges.add((min(a, b), max(a, b)))
    return edges


def preferential(n, rng, m=2):
    edges, pool = set(), [0, 1, 2]
    for v in range(3, n):
        for u in {rng.choice(pool) for _ in range(m)}:
            edges.add((u, v))
            pool += [u, v]
    return edges


def build(kind, rng):
    n = rng.randint(15, 40)
    edges = preferential(n, rng) if kind else ring_with_chords(n, rng)
    if rng.random() < 0.5:
        drop = rng.sample(sorted(edges), len(edges) // 10)
        edges = edges - set(drop)
    e = torch.tensor(sorted(edges)).t()
    e = torch.cat([e, e.flip(0)], dim=1)
    deg = torch.bincount(e[0], minlength=n)
    return Graph(e, deg, n, kind)


def collate(graphs):
    offset, edges, owner = 0, [], []
    for i, g in enumerate(graphs):
        edges.append(g.edges + offset)
        owner.append(torch.full((g.n,), i))
        offset += g.n
    deg = torch.cat([g.deg for g in graphs])
    return deg, torch.cat(edges, 1), torch.cat(owner), torch.tensor([g.y for g in graphs])


class MessagePassing(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.own, self.other = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, h, edges):
        src, dst = edges
        agg = torch.zeros_like(h).index_add_(0, dst, h[src])
        cnt = torch.zeros(len(h), 1).index_add_(0, dst, torch.ones(len(src), 1))
        return F.relu(self.own(h) + self.other(agg / cnt.clamp(min=1)))


class GraphNet(nn.Module):
    def __init__(self, n_degrees, d=32, rounds=3):
        super().__init__()
        self.embed = nn.Embedding(n_degrees, d)
        self.rounds = nn.ModuleList([MessagePassing(d) for _ in range(rounds)])
        self.read = nn.Linear(d, 2)

    def forward(self, deg, edges, owner, n_graphs):
        h = self.embed(deg)
        for r in self.rounds:
            h = r(h, edges)
        pooled = torch.zeros(n_graphs, h.size(1)).index_add_(0, owner, h)
        size = torch.bincount(owner, minlength=n_graphs).unsqueeze(1)
        return self.read(pooled / size)


rng = random.Random(0)
torch.manual_seed(5)
graphs = [build(i % 2, rng) for i in range(1600)]
rng.shuffle(graphs)
train, test = graphs[:1200], graphs[1200:]
n_degrees = 1 + max(int(g.deg.max()) for g in train)
model = GraphNet(n_degrees)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
print(len(train), "train graphs,", len(test), "test graphs,", n_degrees, "degrees")

for epoch in range(12):
    model.train()
    rng.shuffle(train)
    total = 0.0
    for i in range(0, len(train), 32):
        deg, edges, owner, y = collate(train[i:i + 32])
        loss = F.cross_entropy(model(deg, edges, owner, len(y)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    print(f"epoch {epoch + 1:2d} loss {total / len(train):.4f}")

model.eval()
with torch.no_grad():
    deg, edges, owner, y = collate(test)
    acc = (model(deg, edges, owner, len(y)).argmax(1) == y).float().mean()
print(f"test accuracy {acc:.3f}")
