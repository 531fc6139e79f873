"""Pairwise (BPR) recommender on implicit feedback."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

N_USERS, N_ITEMS, DIM = 300, 200, 16
MICRO, ACCUM = 128, 4


def interactions(seed=0):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(N_USERS, 4)), rng.normal(size=(N_ITEMS, 4))
    affinity = u @ v.T + rng.gumbel(scale=0.5, size=(N_USERS, N_ITEMS))
    liked = np.argsort(-affinity, axis=1)[:, :20]
    train, test = [], []
    for user, items in enumerate(liked):
        items = rng.permutation(items)
        train += [(user, i) for i in items[:16]]
        test += [(user, i) for i in items[16:]]
    return np.array(train), np.array(test)


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(N_USERS, DIM)
        self.item = nn.Embedding(N_ITEMS, DIM)
        self.bias = nn.Parameter(torch.zeros(N_ITEMS))
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, users, items):
        return (self.user(users) * self.item(items)).sum(-1) + self.bias[items]

    def all_scores(self):
        return self.user.weight @ self.item.weight.T + self.bias


def triples(train, known, rng):
    for start in range(0, len(train), MICRO):
        part = train[start:start + MICRO]
        neg = rng.integers(N_ITEMS, size=len(part))
        while (clash := known[part[:, 0], neg]).any():
            neg[clash] = rng.integers(N_ITEMS, size=clash.sum())
        yield torch.from_numpy(part[:, 0]), torch.from_numpy(part[:, 1]), torch.from_numpy(neg)


@torch.no_grad()
def ranking_auc(model, test, known):
    scores = model.all_scores().numpy()
    aucs = []
    for user, item in test:
        others = scores[user][~known[user]]
        aucs.append((scores[user, item] > others).sum() / (len(others) - 1))
    return float(np.mean(aucs))


def main():
    torch.manual_seed(2)
    rng = np.random.default_rng(2)
    train, test = interactions()
    known = np.zeros((N_USERS, N_ITEMS), dtype=bool)
    known[train[:, 0], train[:, 1]] = True

    model = Factors()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=1e-5)
    print(f"AUC before training {ranking_auc(model, test, known):.3f}")
    optimizer.zero_grad()
    for epoch in range(30):
        order = rng.permutation(len(train))
        losses, pending = [], 0
        for users, pos, neg in triples(train[order], known, rng):
            loss = -F.logsigmoid(model(users, pos) - model(users, neg)).mean()
            (loss / ACCUM).backward()
            losses.append(loss.item())
            pending += 1
            if pending == ACCUM:
                optimizer.step()
                optimizer.zero_grad()
                pending = 0
        if pending:
            optimizer.step()
            optimizer.zero_grad()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f} AUC {ranking_auc(model, test, known):.3f}")
    popularity = np.bincount(train[:, 1], minlength=N_ITEMS)
    pop = np.mean([(popularity[i] > popularity[~known[u]]).mean() for u, i in test])
    print(f"final AUC {ranking_auc(model, test, known):.3f}, popularity baseline {pop:.3f}")


if __name__ == "__main__":
    main()
