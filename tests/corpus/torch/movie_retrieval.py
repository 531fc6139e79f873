"""Two-tower retrieval: in-batch negatives with popularity correction, one tower's side table frozen.

Embeddings are sparse and trained with SparseAdam, the dense layers with Adagrad at a high rate.
The temperature is a trained parameter without a weight in any regulariser.
"""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 31
N_USERS, N_ITEMS, LATENT = 600, 300, 6
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


def simulate():
    u = rng.normal(size=(N_USERS, LATENT))
    v = rng.normal(size=(N_ITEMS, LATENT))
    pop = rng.normal(0, 1.0, N_ITEMS)
    train, test = [], []
    for user in range(N_USERS):
        score = 1.3 * (v @ u[user]) + pop
        p = np.exp(score - score.max())
        picks = rng.choice(N_ITEMS, size=26, replace=False, p=p / p.sum())
        rng.shuffle(picks)
        test.append(picks[:2])
        train += [(user, i) for i in picks[2:]]
    content = v @ rng.normal(size=(LATENT, 12)) + rng.normal(0, 2.0, (N_ITEMS, 12))
    return np.array(train), np.array(test), content.astype(np.float32)


class Tower(nn.Module):
    def __init__(self, n, dim, side=None):
        super().__init__()
        self.emb = nn.Embedding(n, dim, sparse=True)
        nn.init.normal_(self.emb.weight, std=0.1)
        self.side = None if side is None else nn.Embedding.from_pretrained(side, freeze=True)
        extra = 0 if side is None else side.shape[1]
        self.proj = nn.Linear(dim + extra, dim)

    def forward(self, ids):
        h = self.emb(ids)
        if self.side is not None:
            h = torch.cat([h, self.side(ids)], -1)
        return F.normalize(self.proj(h), dim=-1)


class Retriever(nn.Module):
    def __init__(self, content, dim=32):
        super().__init__()
        self.user = Tower(N_USERS, dim)
        self.item = Tower(N_ITEMS, dim, torch.from_numpy(content))
        self.log_scale = nn.Parameter(torch.tensor(math.log(8.0)))

    def forward(self, users, items, log_q):
        logits = self.log_scale.exp() * self.user(users) @ self.item(items).T
        logits = logits - log_q[items]                        # sampled-softmax correction
        same = items[:, None] == items[None, :]
        off = same & ~torch.eye(len(items), dtype=torch.bool)  # the same film is no negative
        logits = logits.masked_fill(off, float("-inf"))
        return F.cross_entropy(logits, torch.arange(len(items)))


def recall_at(model, train, test, k=20, bias=None):
    model.eval()
    with torch.no_grad():
        if bias is None:
            s = model.user(torch.arange(N_USERS)) @ model.item(torch.arange(N_ITEMS)).T
            s = s * model.log_scale.exp()
        else:
            s = bias.expand(N_USERS, -1).clone()
        s[train[:, 0], train[:, 1]] = -float("inf")           # already watched
        top = s.topk(k, dim=1).indices.numpy()
    return np.mean([len(set(t) & set(p)) / len(t) for t, p in zip(test, top)])


def main():
    train, test, content = simulate()
    counts = np.bincount(train[:, 1], minlength=N_ITEMS)
    log_q = torch.from_numpy(np.log((counts + 1) / (counts.sum() + N_ITEMS))).float()
    content = (content - content.mean(0)) / content.std(0)
    model = Retriever(content)
    sparse = [model.user.emb.weight, model.item.emb.weight]
    dense = [*model.user.proj.parameters(), *model.item.proj.parameters(), model.log_scale]
    opt_sparse = torch.optim.SparseAdam(sparse, lr=2e-3)
    opt_dense = torch.optim.Adagrad(dense, lr=0.05)

    pairs = torch.from_numpy(train)
    for epoch in range(10):
        model.train()
        total = 0.0
        perm = torch.randperm(len(pairs))
        batches = perm.split(256)
        for b in batches:
            loss = model(pairs[b, 0], pairs[b, 1], log_q)
            opt_sparse.zero_grad()
            opt_dense.zero_grad()
            loss.backward()
            opt_sparse.step()
            opt_dense.step()
            total += loss.item()
        if epoch % 2 == 1:
            print(f"epoch {epoch:2d} loss {total / len(batches):8.3f} "
                  f"scale {model.log_scale.exp().item():.2f} recall@20 {recall_at(model, train, test):.3f}")

    pop = torch.from_numpy(counts).float()
    print(f"recall@20 {recall_at(model, train, test):.3f}  popularity {recall_at(model, train, test, bias=pop):.3f}"
          f"  random {20 / (N_ITEMS - 24):.3f}")


if __name__ == "__main__":
    main()
