"""Book recommender: sparse embedding tables under SparseAdam, the small dense part under SGD with momentum.
Pairwise (BPR) loss, sampled negatives, two optimizers stepped together."""
import torch
from torch import nn
import torch.nn.functional as F

USERS, BOOKS, TASTES = 1500, 500, 6


def read_lists(gen):
    u = torch.randn(USERS, TASTES, generator=gen)
    b = torch.randn(BOOKS, TASTES, generator=gen)
    score = 1.6 * u @ b.t() + torch.distributions.Gumbel(0., 1.).sample((USERS, BOOKS))
    top = score.topk(40, dim=1).indices
    top = top.gather(1, torch.rand(USERS, 40, generator=gen).argsort(1))
    return top[:, :34], top[:, 34:]


class Recommender(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.user = nn.Embedding(USERS, dim, sparse=True)
        self.book = nn.Embedding(BOOKS, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.book.weight, std=0.1)
        self.gate = nn.Linear(dim, dim)

    def users(self, u):
        e = self.user(u)
        return e * (1 + torch.tanh(self.gate(e)))

    def forward(self, u, b):
        return (self.users(u) * self.book(b)).sum(-1)


class TwoOptimizers:
    def __init__(self, model):
        self.opts = [
            torch.optim.SparseAdam([model.user.weight, model.book.weight], lr=5e-3),
            torch.optim.SGD(model.gate.parameters(), lr=0.05, momentum=0.9),
        ]

    def zero_grad(self):
        for o in self.opts:
            o.zero_grad()

    def step(self):
        for o in self.opts:
            o.step()


@torch.no_grad()
def hit_rate(model, train, held, k=20):
    s = model.users(torch.arange(USERS)) @ model.book.weight.t()
    s.scatter_(1, train, float("-inf"))          # books already read are not offered again
    top = s.topk(k, 1).indices
    return (top.unsqueeze(2) == held.unsqueeze(1)).any(1).float().mean().item()


torch.manual_seed(14)
train, held = read_lists(torch.Generator().manual_seed(14))
pairs = torch.stack([torch.arange(USERS).repeat_interleave(train.size(1)), train.reshape(-1)], 1)
read = torch.zeros(USERS, BOOKS, dtype=torch.bool).scatter_(1, train, True)
model = Recommender()
opt = TwoOptimizers(model)
print(f"chance hit rate {20 / (BOOKS - train.size(1)):.3f}, before training {hit_rate(model, train, held):.3f}")
for epoch in range(14):
    tot = 0.0
    for idx in torch.randperm(len(pairs)).split(256):
        u, pos = pairs[idx].unbind(1)
        neg = torch.randint(0, BOOKS, u.shape)
        keep = (~read[u, neg]).float()           # a drawn 'negative' that was in fact read counts nothing
        loss = (F.softplus(model(u, neg) - model(u, pos)) * keep).sum() / keep.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    print(f"epoch {epoch} bpr {tot / len(pairs):.4f} hit@20 {hit_rate(model, train, held):.3f}")
