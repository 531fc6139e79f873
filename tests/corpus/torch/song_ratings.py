"""Factorised recommender with a table of embeddings per field."""
import numpy as np
import torch
from torch import nn

FIELDS = {"listener": 300, "song": 250, "hour": 24, "device": 5}


def make_ratings(n=80000, seed=17):
    g = np.random.default_rng(seed)
    taste = g.normal(size=(FIELDS["listener"], 3))
    style = g.normal(size=(FIELDS["song"], 3))
    mood = g.normal(size=FIELDS["hour"]) * 0.4
    cols = {k: g.integers(0, v, n) for k, v in FIELDS.items()}
    rating = (taste[cols["listener"]] * style[cols["song"]]).sum(1) + mood[cols["hour"]]
    rating = rating + 0.3 * g.normal(size=n)
    return {k: torch.from_numpy(v) for k, v in cols.items()}, torch.from_numpy(rating.astype(np.float32))


class FieldFactors(nn.Module):
    """Pairwise products of the fields' embeddings plus a small deep part."""

    def __init__(self, fields, dim=12):
        super().__init__()
        self.names = list(fields)
        self.tables = {}
        for name, size in fields.items():
            table = nn.Embedding(size, dim)
            nn.init.normal_(table.weight, std=0.3)
            self.tables[name] = table
        n_pairs = len(fields) * (len(fields) - 1) // 2
        self.mix = nn.Linear(n_pairs * dim, 1)
        self.deep = nn.Sequential(nn.Linear(dim * len(fields), 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, batch):
        vecs = [self.tables[n](batch[n]) for n in self.names]
        pairs = [vecs[i] * vecs[j] for i in range(len(vecs)) for j in range(i + 1, len(vecs))]
        wide = self.mix(torch.cat(pairs, dim=1))
        deep = self.deep(torch.cat(vecs, dim=1))
        return (wide + deep).squeeze(1)


def take(cols, idx):
    return {k: v[idx] for k, v in cols.items()}


def train(epochs=15, batch=256, lr=3e-3):
    torch.manual_seed(1)
    cols, rating = make_ratings()
    order = torch.randperm(len(rating))
    fit, hold = order[:68000], order[68000:]
    net = FieldFactors(FIELDS)
    opt = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=1e-6)
    loss_fn = nn.MSELoss()
    for epoch in range(epochs):
        net.train()
        running = 0.0
        for idx in fit[torch.randperm(len(fit))].split(batch):
            opt.zero_grad()
            loss = loss_fn(net(take(cols, idx)), rating[idx])
            loss.backward()
            opt.step()
            running += loss.item() * len(idx)
        net.eval()
        with torch.no_grad():
            held = loss_fn(net(take(cols, hold)), rating[hold]).item()
        print(f"epoch {epoch:2d} train mse {running / len(fit):.4f} held-out mse {held:.4f}")
    base = rating[hold].var().item()
    print(f"variance {base:.3f}, explained on held-out {1 - held / base:.3f}")


if __name__ == "__main__":
    train()
