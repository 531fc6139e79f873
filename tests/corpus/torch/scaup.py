"""Order the offers of one search for one visitor: one list per step."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass
class Spec:
    visitors: int = 60
    features: int = 8
    taste: int = 8
    train_lists: int = 1500
    test_lists: int = 200
    epochs: int = 3
    lr: float = 2e-3
    sparse_lr: float = 1e-2


class Market:
    def __init__(self, spec, seed=0):
        self.rng = np.random.default_rng(seed)
        self.common = self.rng.normal(size=spec.features)
        self.personal = self.rng.normal(size=(spec.visitors, spec.features))
        self.spec = spec

    def lists(self, n):
        for _ in range(n):
            v = self.rng.integers(self.spec.visitors)
            offers = self.rng.normal(size=(self.rng.integers(4, 16), self.spec.features))
            liking = offers @ (self.common + self.personal[v]) + 0.5 * self.rng.normal(size=len(offers))
            grade = np.digitize(liking, [-1.0, 1.0, 3.0, 5.0])
            yield torch.tensor(v), torch.tensor(offers, dtype=torch.float32), torch.tensor(grade, dtype=torch.float32)


class Ranker(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.visitor = nn.Embedding(spec.visitors, spec.taste, sparse=True)
        self.offer = nn.Sequential(nn.Linear(spec.features, 32), nn.ReLU(), nn.Linear(32, spec.taste))
        self.linear = nn.Linear(spec.features, 1, bias=False)
        nn.init.normal_(self.visitor.weight, std=0.1)

    def forward(self, v, offers):
        return self.offer(offers) @ self.visitor(v) + self.linear(offers).squeeze(-1)


def listwise(scores, grade):
    wanted = torch.softmax(grade, 0)
    return -(wanted * torch.log_softmax(scores, 0)).sum()


def ndcg(scores, grade, k=5):
    gain = 2 ** grade - 1
    discount = 1 / torch.log2(torch.arange(2, 2 + min(k, len(grade))))
    got = (gain[scores.argsort(descending=True)[:k]] * discount).sum()
    best = (gain.sort(descending=True).values[:k] * discount).sum()
    return (got / best).item() if best > 0 else None


@torch.no_grad()
def evaluate(model, lists):
    model.eval()
    values = [ndcg(model(v, o), g) for v, o, g in lists]
    return float(np.mean([x for x in values if x is not None]))


def main():
    spec = Spec()
    torch.manual_seed(0)
    market = Market(spec)
    train, test = list(market.lists(spec.train_lists)), list(market.lists(spec.test_lists))
    model = Ranker(spec)
    dense = torch.optim.Adam([*model.offer.parameters(), *model.linear.parameters()], lr=spec.lr)
    sparse = torch.optim.SparseAdam([model.visitor.weight], lr=spec.sparse_lr)
    schedulers = [torch.optim.lr_scheduler.ExponentialLR(o, 0.5) for o in (dense, sparse)]
    floor = float(np.mean([-(torch.softmax(g, 0) * torch.log_softmax(g, 0)).sum() for _, _, g in train]))
    print(f"entropy of the wanted distributions {floor:.3f}; untrained ndcg@5 {evaluate(model, test):.3f}")
    for epoch in range(spec.epochs):
        model.train()
        total = 0.0
        for i in torch.randperm(len(train)).tolist():
            v, offers, grade = train[i]
            loss = listwise(model(v, offers), grade)
            model.zero_grad()
            loss.backward()
            dense.step()
            sparse.step()
            total += loss.item()
        for s in schedulers:
            s.step()
        print(f"epoch {epoch}: loss {total / len(train):.3f} ndcg@5 {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()
