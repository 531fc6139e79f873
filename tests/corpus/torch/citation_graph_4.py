"""Semi-supervised subject labels on a citation graph: two-hop GCN, full batch, 10 labels per subject."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--papers", type=int, default=1500)
ap.add_argument("--subjects", type=int, default=6)
ap.add_argument("--labels-per-subject", type=int, default=10)
ap.add_argument("--hidden", type=int, default=32)
ap.add_argument("--lr", type=float, default=0.02)
ap.add_argument("--epochs", type=int, default=150)
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
rng = np.random.default_rng(args.seed)
torch.manual_seed(args.seed)


def citation_graph():
    n, k = args.papers, args.subjects
    subject = rng.integers(0, k, n)
    same = subject[:, None] == subject[None]
    prob = np.where(same, 0.016, 0.0012)
    upper = np.triu(rng.random((n, n)) < prob, 1)
    topics = rng.random((k, 300)) ** 6 * 0.09 + 0.01
    words = (rng.random((n, 300)) < topics[subject]).astype("float32")
    return upper | upper.T, words, subject


class DropEdge(nn.Module):
    """Normalised adjacency; in training a tenth of the edges is hidden each time."""

    def __init__(self, adj, p=0.1):
        super().__init__()
        self.p = p
        self.register_buffer("adj", adj)

    @staticmethod
    def normalise(a):
        a = a + torch.eye(len(a))
        d = a.sum(1).rsqrt()
        return d[:, None] * a * d[None]

    def forward(self):
        a = self.adj
        if self.training:
            keep = (torch.rand_like(a) > self.p).float().triu(1)
            a = a * (keep + keep.t())
        return self.normalise(a)


class GCN(nn.Module):
    def __init__(self, adj, d_in, hidden, d_out):
        super().__init__()
        self.graph = DropEdge(adj)
        self.w1 = nn.Linear(d_in, hidden, bias=False)
        self.w2 = nn.Linear(hidden, d_out)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        a = self.graph()
        h = F.relu(a @ self.w1(self.drop(x)))
        return a @ self.w2(self.drop(h))


adj, words, subject = citation_graph()
x = torch.from_numpy(words)
x = x / x.sum(1, keepdim=True).clamp(min=1)
y = torch.from_numpy(subject)

train_mask = torch.zeros(len(y), dtype=torch.bool)
for c in range(args.subjects):
    train_mask[torch.from_numpy(rng.permutation(np.flatnonzero(subject == c))[:args.labels_per_subject])] = True
rest = torch.from_numpy(rng.permutation(np.flatnonzero(~train_mask.numpy())))
val_idx, test_idx = rest[:300], rest[300:]

targets = y.clone()
targets[~train_mask] = -100          # only the seed papers are labelled

model = GCN(torch.from_numpy(adj.astype("float32")), x.size(1), args.hidden, args.subjects)
opt = torch.optim.Adam([
    {"params": model.w1.parameters(), "weight_decay": 5e-4},
    {"params": model.w2.parameters(), "weight_decay": 0.0},
], lr=args.lr)

best = (0.0, None)
for epoch in range(1, args.epochs + 1):
    model.train()
    loss = F.cross_entropy(model(x), targets)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            pred = model(x).argmax(1)
        val = (pred[val_idx] == y[val_idx]).float().mean().item()
        if val >= best[0]:
            best = (val, {k: v.detach().clone() for k, v in model.state_dict().items()})
        if epoch % 30 == 0:
            print(f"epoch {epoch:3d}  seed loss {loss.item():.3f}  val acc {val:.3f}")

model.load_state_dict(best[1])
model.eval()
with torch.no_grad():
    pred = model(x).argmax(1)
acc = (pred[test_idx] == y[test_idx]).float().mean().item()
centroids = torch.stack([x[train_mask & (y == c)].mean(0) for c in range(args.subjects)])
words_only = (F.normalize(x[test_idx], dim=1) @ F.normalize(centroids, dim=1).t()).argmax(1)
print(f"test acc {acc:.3f}  (nearest centroid on words {(words_only == y[test_idx]).float().mean():.3f}, "
      f"chance {1 / args.subjects:.3f})")
