"""Learn to order apartment listings from pairwise clicks."""
import numpy as np
import torch
from torch import nn

SETTINGS = {"optimizer": "SGD", "loss": "SoftMarginLoss", "epochs": 15, "batch": 64}


def simulate_listings(n=600, d=12, seed=5):
    rng = np.random.default_rng(seed)
    feats = rng.normal(size=(n, d)).astype("float32")
    w = rng.normal(size=d)
    appeal = feats @ w + 1.5 * np.sin(2 * feats[:, 0]) * feats[:, 1] - np.abs(feats[:, 2]) * 2
    return torch.tensor(feats), appeal


def click_pairs(pool, appeal, n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.choice(pool, n), rng.choice(pool, n)
    keep = a != b
    a, b = a[keep], b[keep]
    p = 1 / (1 + np.exp(-(appeal[a] - appeal[b])))
    first_wins = rng.random(len(a)) < p
    sign = np.where(first_wins, 1.0, -1.0).astype("float32")
    return torch.tensor(a), torch.tensor(b), torch.tensor(sign)


def build_scorer(d):
    return nn.Sequential(nn.Linear(d, 64), nn.Tanh(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 1))


def build_criterion(name):
    return getattr(nn, name)()


def build_optimizer(name, scorer):
    cls = getattr(torch.optim, name)
    return cls(scorer.parameters())


def iterate(pairs, size, gen):
    order = torch.randperm(len(pairs[0]), generator=gen)
    for start in range(0, len(order), size):
        idx = order[start:start + size]
        yield tuple(t[idx] for t in pairs)


def run_epoch(scorer, feats, pairs, criterion, opt, size, gen):
    scorer.train()
    total = 0.0
    for a, b, sign in iterate(pairs, size, gen):
        margin = (scorer(feats[a]) - scorer(feats[b])).squeeze(-1)
        loss = criterion(margin, sign)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(a)
    return total / len(pairs[0])


@torch.no_grad()
def order_accuracy(scorer, feats, appeal, pool, seed=77):
    scorer.eval()
    rng = np.random.default_rng(seed)
    a, b = rng.choice(pool, 4000), rng.choice(pool, 4000)
    keep = a != b
    a, b = a[keep], b[keep]
    s = scorer(feats).squeeze(-1).numpy()
    return float(((s[a] > s[b]) == (appeal[a] > appeal[b])).mean())


def main():
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(2)
    feats, appeal = simulate_listings()
    train_pool, test_pool = np.arange(0, 480), np.arange(480, 600)
    pairs = click_pairs(train_pool, appeal, 6000, seed=9)
    scorer = build_scorer(feats.shape[1])
    criterion = build_criterion(SETTINGS["loss"])
    opt = build_optimizer(SETTINGS["optimizer"], scorer)
    for epoch in range(SETTINGS["epochs"]):
        loss = run_epoch(scorer, feats, pairs, criterion, opt, SETTINGS["batch"], gen)
        acc = order_accuracy(scorer, feats, appeal, test_pool)
        print(f"epoch {epoch + 1:2d}  pair loss {loss:.4f}  unseen listings ordered right {acc:.3f}")
    print(f"final pair loss {loss:.4f}  order accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
