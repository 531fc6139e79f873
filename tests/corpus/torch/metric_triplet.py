"""Embed handwritten digits with a batch-hard triplet loss, score with 1-NN."""
import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(7)
rng = np.random.default_rng(7)

X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32) / 16
y = torch.tensor(y)
order = torch.tensor(rng.permutation(len(y)))
tr, te = order[:1200], order[1200:]

P, K = 10, 6          # classes x samples per batch
MARGIN = 0.3


def sample_batch():
    picks = []
    for c in range(P):
        pool = tr[y[tr] == c].numpy()
        picks.append(rng.choice(pool, K, replace=False))
    return torch.tensor(np.concatenate(picks))


def pairwise(a, b):
    diff = a[:, None, :] - b[None, :, :]
    return torch.sqrt((diff ** 2).sum(-1))


def batch_hard(emb, lab):
    d = pairwise(emb, emb)
    same = lab[:, None] == lab[None, :]
    hardest_pos = (d * same).max(1).values
    hardest_neg = (d + 1e3 * same).min(1).values
    return torch.relu(hardest_pos - hardest_neg + MARGIN).mean()


class Embedder(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, dim))

    def forward(self, x):
        return nn.functional.normalize(self.body(x), dim=-1)


@torch.no_grad()
def one_nn(model):
    ref, query = model(X[tr]), model(X[te])
    nearest = torch.cdist(query, ref).argmin(1)
    return (y[tr][nearest] == y[te]).float().mean().item()


model = Embedder()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
print(f"before training 1-NN {one_nn(model):.3f}")
for step in range(1, 401):
    idx = sample_batch()
    loss = batch_hard(model(X[idx]), y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 80 == 0:
        print(f"step {step} loss {loss.item():.4f} 1-NN {one_nn(model):.3f}")
