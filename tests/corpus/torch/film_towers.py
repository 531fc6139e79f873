"""Two-tower recommender: sparse id tables with SparseAdam, dense towers with Adam, in-batch softmax."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Opts:
    users: int = 1200
    films: int = 300
    taste: int = 6
    views: int = 30
    dim: int = 32
    temperature: float = 0.1
    epochs: int = 6
    batch: int = 256
    seed: int = 99


class Views:
    def __init__(self, o):
        g = torch.Generator().manual_seed(o.seed)
        u = torch.randn(o.users, o.taste, generator=g)
        f = torch.randn(o.films, o.taste, generator=g)
        fame = 0.5 * torch.randn(o.films, generator=g)
        logits = 1.6 * u @ f.T + fame
        seen = torch.multinomial(logits.softmax(1), o.views, generator=g)
        self.genre = f.topk(1, dim=1).indices.squeeze(1)
        rows = torch.arange(o.users)[:, None].expand(-1, o.views - 2)
        self.train = torch.stack([rows.flatten(), seen[:, 2:].flatten()], 1)
        self.train_seen = seen[:, 2:]
        self.held = seen[:, :2]
        self.log_pop = torch.log((torch.bincount(self.train[:, 1], minlength=o.films).float() + 1)
                                 / len(self.train))


class Tower(nn.Module):
    def __init__(self, n_ids, dim, extra=0):
        super().__init__()
        self.table = nn.Embedding(n_ids, dim, sparse=True)
        nn.init.normal_(self.table.weight, std=0.1)
        self.side = nn.Embedding(extra, dim) if extra else None
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, ids, side=None):
        e = self.table(ids)
        if self.side is not None:
            e = e + self.side(side)
        return F.normalize(e + self.mlp(e), dim=-1)


class Recommender(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.o = o
        self.user = Tower(o.users, o.dim)
        self.film = Tower(o.films, o.dim, extra=o.taste)

    def optimizers(self):
        sparse = [self.user.table.weight, self.film.table.weight]
        taken = {id(p) for p in sparse}
        dense = [p for p in self.parameters() if id(p) not in taken]
        return torch.optim.SparseAdam(sparse, lr=1e-2), torch.optim.Adam(dense, lr=1e-3)

    def loss(self, users, films, data):
        s = self.user(users) @ self.film(films, data.genre[films]).T / self.o.temperature
        s = s - data.log_pop[films]                 # popular films turn up more often as negatives
        same = films[:, None] == films[None, :]
        same.fill_diagonal_(False)
        return F.cross_entropy(s.masked_fill(same, -1e9), torch.arange(len(users)))


@torch.no_grad()
def hit_rate(model, data, k=20):
    o = model.o
    films = torch.arange(o.films)
    s = model.user(torch.arange(o.users)) @ model.film(films, data.genre).T / o.temperature
    s.scatter_(1, data.train_seen, -1e9)
    top = s.topk(k, 1).indices
    return (top[:, None, :] == data.held[:, :, None]).any(-1).float().mean().item()


def main(o=Opts()):
    torch.manual_seed(o.seed)
    data, model = Views(o), Recommender(o)
    opts = model.optimizers()
    fame = data.log_pop.repeat(o.users, 1).scatter(1, data.train_seen, -1e9).topk(20, 1).indices
    print("popular-first hit rate@20", (fame[:, None, :] == data.held[:, :, None]).any(-1).float().mean().item())
    for ep in range(1, o.epochs + 1):
        model.train()
        total, steps = 0.0, 0
        for idx in torch.randperm(len(data.train)).split(o.batch):
            users, films = data.train[idx].unbind(1)
            loss = model.loss(users, films, data)
            for op in opts:
                op.zero_grad()
            loss.backward()
            for op in opts:
                op.step()
            total, steps = total + loss.item(), steps + 1
        model.eval()
        if ep % 2 == 0 or ep == 1:
            print(f"epoch {ep:2d} loss {total / steps:.4f} hit rate@20 {hit_rate(model, data):.3f}")


if __name__ == "__main__":
    main()
