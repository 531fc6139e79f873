"""Graph classification with message passing: is there an oxygen two bonds away from a nitrogen?

Graphs are padded to a fixed number of atoms so that a batch is three dense tensors.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import balanced_accuracy_score
from torch.utils.data import DataLoader, TensorDataset

MAX_ATOMS = 16
KINDS = 5  # C, N, O, S, other


def random_molecule(rng):
    """A six-ring with side chains."""
    n = int(rng.integers(9, MAX_ATOMS + 1))
    adj = np.zeros((MAX_ATOMS, MAX_ATOMS), dtype=np.float32)
    ring = 6
    for i in range(ring):
        j = (i + 1) % ring
        adj[i, j] = adj[j, i] = 1
    for v in range(ring, n):
        u = int(rng.integers(0, v))
        adj[u, v] = adj[v, u] = 1
    kind = rng.choice(KINDS, size=n, p=[0.6, 0.12, 0.12, 0.08, 0.08])
    feat = np.zeros((MAX_ATOMS, KINDS), dtype=np.float32)
    feat[np.arange(n), kind] = 1
    mask = np.zeros(MAX_ATOMS, dtype=np.float32)
    mask[:n] = 1
    two = ((adj @ adj) > 0) & ~np.eye(MAX_ATOMS, dtype=bool)
    nitro = np.flatnonzero(feat[:, 1])
    oxy = np.flatnonzero(feat[:, 2])
    label = int(two[np.ix_(nitro, oxy)].any()) if len(nitro) and len(oxy) else 0
    return feat, adj, mask, label


def make_set(n, seed):
    rng = np.random.default_rng(seed)
    pool = {0: [], 1: []}
    while min(len(pool[0]), len(pool[1])) < n // 2:
        m = random_molecule(rng)
        if m[1].sum() and len(pool[m[3]]) < n // 2:
            # the negatives must carry both N and O as well
            if m[0][:, 1].any() and m[0][:, 2].any():
                pool[m[3]].append(m)
    rows = pool[0] + pool[1]
    f, a, k, y = zip(*rows)
    return TensorDataset(*(torch.from_numpy(np.stack(t)) for t in (f, a, k)), torch.tensor(y))


class MessageLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.near = nn.Linear(dim, dim, bias=False)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.norm = nn.LayerNorm(dim)

    def forward(self, h, adj, mask):
        msg = adj @ self.near(h)
        h = self.norm(h + self.mlp(torch.cat([h, msg], dim=-1)))
        return h * mask.unsqueeze(-1)


class MolNet(nn.Module):
    def __init__(self, dim=32, depth=3):
        super().__init__()
        self.embed = nn.Linear(KINDS, dim)
        self.layers = [MessageLayer(dim) for _ in range(depth)]
        self.head = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 2))

    def forward(self, feat, adj, mask):
        h = self.embed(feat) * mask.unsqueeze(-1)
        for layer in self.layers:
            h = layer(h, adj, mask)
        pooled = h.masked_fill(mask.unsqueeze(-1) == 0, -1e4).amax(dim=1)
        return self.head(pooled)


def evaluate(model, loader):
    model.eval()
    guess, true = [], []
    with torch.no_grad():
        for f, a, m, y in loader:
            guess.append(model(f, a, m).argmax(-1))
            true.append(y)
    return balanced_accuracy_score(torch.cat(true), torch.cat(guess))


def run(epochs=10, lr=1e-3, batch_size=64):
    torch.manual_seed(5)
    train = DataLoader(make_set(1200, 1), batch_size=batch_size, shuffle=True)
    val = DataLoader(make_set(600, 2), batch_size=200)
    net = MolNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=1e-4)
    for epoch in range(1, epochs + 1):
        net.train()
        losses = []
        for f, a, m, y in train:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(f, a, m), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 2 == 0:
            print(f"[{epoch:02d}] loss {np.mean(losses):.4f} val bal.acc {evaluate(net, val):.3f}")
    print(f"held-out balanced accuracy: {evaluate(net, val):.3f} (chance 0.500)")


if __name__ == "__main__":
    run()
