"""Implicit feedback recommender, BPR on (user, bought, not bought) triples."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

SEED = 17
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)
N_USER, N_ITEM, DIM = 300, 200, 16


def make_purchases():
    taste = rng.normal(size=(N_USER, 4))
    kind = rng.normal(size=(N_ITEM, 4))
    popular = rng.gumbel(size=N_ITEM) * 0.5
    util = 1.5 * taste @ kind.T + popular + rng.gumbel(size=(N_USER, N_ITEM))
    top = np.argsort(-util, axis=1)[:, :25]
    train, held = [], []
    for u in range(N_USER):
        items = rng.permutation(top[u])
        train += [(u, i) for i in items[:-1]]
        held.append(items[-1])
    return np.array(train), np.array(held)


def triples(pairs, owned, batch):
    """endless generator, negatives are drawn among the items that the user does not have"""
    while True:
        rows = pairs[rng.integers(0, len(pairs), batch)]
        u, i = rows[:, 0], rows[:, 1]
        j = rng.integers(0, N_ITEM, batch)
        clash = owned[u, j]
        while clash.any():
            j[clash] = rng.integers(0, N_ITEM, clash.sum())
            clash = owned[u, j]
        yield torch.from_numpy(u), torch.from_numpy(i), torch.from_numpy(j)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(N_USER, DIM, sparse=True)
        self.item = nn.Embedding(N_ITEM, DIM, sparse=True)
        self.mix = nn.Linear(DIM, DIM, bias=False)
        self.pop = nn.Parameter(torch.zeros(N_ITEM))
        nn.init.normal_(self.user.weight, std=0.05)
        nn.init.normal_(self.item.weight, std=0.05)
        nn.init.eye_(self.mix.weight)

    def forward(self, u, i):
        return (self.mix(self.user(u)) * self.item(i)).sum(-1) + self.pop[i]

    def all_items(self, u):
        return self.mix(self.user(u)) @ self.item.weight.t() + self.pop


def hit_rate(model, owned, held, k=10):
    with torch.no_grad():
        s = model.all_items(torch.arange(N_USER))
        s[torch.from_numpy(owned)] = -torch.inf
        top = s.topk(k, dim=1).indices
        return (top == torch.from_numpy(held)[:, None]).any(1).float().mean().item()


def main():
    pairs, held = make_purchases()
    owned = np.zeros((N_USER, N_ITEM), dtype=bool)
    owned[pairs[:, 0], pairs[:, 1]] = True

    model = Scorer()
    opt_emb = torch.optim.SparseAdam([model.user.weight, model.item.weight], lr=0.01)
    opt_rest = torch.optim.SGD([{"params": [model.pop], "lr": 0.5}, {"params": model.mix.parameters()}], lr=0.05)

    print("random hit@10: %.3f" % (10 / (N_ITEM - 24)))
    feed = triples(pairs, owned, batch=256)
    avg = None
    for step in range(1, 1001):
        u, i, j = next(feed)
        diff = model(u, i) - model(u, j)
        loss = -F.logsigmoid(diff).mean()
        loss = loss + 1e-2 * (model.user(u).pow(2).sum(1) + model.item(i).pow(2).sum(1)).mean()
        for o in (opt_emb, opt_rest):
            o.zero_grad()
        loss.backward()
        for o in (opt_emb, opt_rest):
            o.step()
        avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
        if step % 100 == 0:
            print(f"step {step:5d} loss {avg:.4f} auc(batch) {(diff > 0).float().mean():.3f} "
                  f"hit@10 {hit_rate(model, owned, held):.3f}")


main()
