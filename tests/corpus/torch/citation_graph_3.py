"""
Semi-supervised node classification (transductive). All nodes and edges are visible during training,
only a handful of labels per class are used in the loss.
"""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_graph(n=1500, k=5, dim=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    same = y[:, None] == y[None, :]
    prob = np.where(same, 0.014, 0.0015)
    adj = np.triu(rng.random((n, n)) < prob, 1)
    adj = adj | adj.T
    topics = rng.random((k, dim)) < 0.12
    words = rng.random((n, dim)) < np.where(topics[y], 0.12, 0.035)
    return words.astype(np.float32), adj, y


def normalised_adjacency(adj):
    a = torch.from_numpy(adj).float() + torch.eye(len(adj))
    d = a.sum(1).rsqrt()
    return (d[:, None] * a * d[None, :]).to_sparse()


class APPNP(nn.Module):
    """MLP followed by personalised-pagerank propagation of the logits."""

    def __init__(self, d_in, k, hidden=32, steps=8, alpha=0.15, drop=0.6):
        super().__init__()
        self.a = nn.Linear(d_in, hidden)
        self.b = nn.Linear(hidden, k)
        self.steps, self.alpha, self.drop = steps, alpha, drop

    def forward(self, x, adj):
        h = F.dropout(x, self.drop, self.training)
        h = F.relu(self.a(h))
        h = self.b(F.dropout(h, self.drop, self.training))
        z = h
        for _ in range(self.steps):
            z = (1 - self.alpha) * torch.sparse.mm(adj, z) + self.alpha * h
        return z


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--per-class", type=int, default=12)
    ap.add_argument("--steps", type=int, default=150)
    args = ap.parse_args()
    torch.manual_seed(0)
    x, adj, y = make_graph()
    rng = np.random.default_rng(1)
    order = rng.permutation(len(y))
    train = np.concatenate([order[y[order] == c][:args.per_class] for c in range(5)])
    rest = np.setdiff1d(order, train)
    rest = rng.permutation(rest)
    val, test = torch.from_numpy(rest[:300]), torch.from_numpy(rest[300:])
    train = torch.from_numpy(train)
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    a = normalised_adjacency(adj)
    print(f"{len(y)} nodes, {int(adj.sum()) // 2} edges, {len(train)} labels")

    model = APPNP(x.size(1), 5)
    # weight decay on the first layer only, as in the GCN paper
    opt = torch.optim.Adam([{"params": model.a.parameters(), "weight_decay": 5e-3},
                            {"params": model.b.parameters()}], lr=0.02)
    best, best_state = 0.0, None
    for step in range(args.steps):
        model.train()
        out = model(x, a)
        loss = F.cross_entropy(out[train], y[train])
        opt.zero_grad()
        loss.backward()
        opt.step()
        model.eval()
        with torch.no_grad():
            hit = (model(x, a).argmax(1) == y).float()
        acc = hit[val].mean().item()
        if acc > best:
            best, best_state = acc, {k: v.clone() for k, v in model.state_dict().items()}
        if step % 25 == 0:
            print(f"step {step:3d}  loss {loss.item():.4f}  labelled {hit[train].mean():.3f}  val {acc:.3f}")

    model.load_state_dict(best_state)
    model.eval()
    with torch.no_grad():
        acc = (model(x, a).argmax(1) == y)[test].float().mean().item()
    print(f"test accuracy {acc:.3f} (majority {torch.bincount(y[test]).max().item() / len(test):.3f})")


if __name__ == "__main__":
    main()
