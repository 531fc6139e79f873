"""Matrix factorisation for shop items: sparse embeddings with one optimizer, dense tower with another."""
import numpy as np
import torch
from torch import nn

USERS, ITEMS, DIM = 1500, 400, 16


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, DIM, sparse=True)
        self.item = nn.Embedding(ITEMS, DIM, sparse=True)
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)
        self.tower = nn.Sequential(nn.Linear(3 * DIM, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, u, i):
        a, b = self.user(u), self.item(i)
        return (a * b).sum(-1) + self.tower(torch.cat([a, b, a * b], -1)).squeeze(-1)


def world(rng):
    """Every user likes three of eight shelves; purchases are drawn from these."""
    shelf = rng.integers(0, 8, ITEMS)
    likes = np.stack([rng.choice(8, 3, replace=False) for _ in range(USERS)])
    bought = []
    for u in range(USERS):
        pool = np.flatnonzero(np.isin(shelf, likes[u]))
        bought.append(rng.choice(pool, 26, replace=False))
    return np.stack(bought)


def main():
    rng = np.random.default_rng(17)
    torch.manual_seed(17)
    bought = world(rng)
    train, held = bought[:, :24], bought[:, 24:]
    seen = torch.zeros(USERS, ITEMS, dtype=torch.bool)
    seen[torch.arange(USERS)[:, None], torch.from_numpy(train)] = True
    u_all = torch.arange(USERS).repeat_interleave(24)
    i_all = torch.from_numpy(train).reshape(-1)

    net = Recommender()
    sparse = torch.optim.SparseAdam(list(net.user.parameters()) + list(net.item.parameters()), lr=4e-3)
    dense = torch.optim.Adam(net.tower.parameters(), lr=1e-3)
    for epoch in range(18):
        net.train()
        total, n = 0.0, 0
        for idx in torch.randperm(len(u_all)).split(256):
            u, i = u_all[idx], i_all[idx]
            neg = torch.randint(ITEMS, (len(idx), 4))
            clash = seen[u[:, None], neg]
            pos_s = net(u, i)
            neg_s = net(u[:, None].expand_as(neg), neg)
            margin = nn.functional.softplus(neg_s - pos_s[:, None])
            loss = margin[~clash].mean()
            for o in (sparse, dense):
                o.zero_grad()
            loss.backward()
            for o in (sparse, dense):
                o.step()
            total, n = total + loss.item(), n + 1
        net.eval()
        with torch.no_grad():
            grid_u = torch.arange(USERS)[:, None].expand(USERS, ITEMS)
            grid_i = torch.arange(ITEMS)[None].expand(USERS, ITEMS)
            s = net(grid_u, grid_i).masked_fill(seen, -1e9)
        top = s.topk(20, 1).indices
        hit = (top[:, :, None] == torch.from_numpy(held)[:, None]).any(1).float().mean()
        target = s.gather(1, torch.from_numpy(held))
        auc = ((target[:, :, None] > s[:, None]) & ~seen[:, None]).sum() / (~seen).sum() / 2
        print(f"epoch {epoch + 1:2d} loss {total / n:.4f} hit@20 {hit:.3f} auc {auc:.3f}")
    print("hit@20 by chance", round(20 / (ITEMS - 24), 3))


if __name__ == "__main__":
    main()
