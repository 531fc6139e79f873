import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def parse_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=600)
    ap.add_argument("--pairs", type=int, default=64)
    ap.add_argument("--margin", type=float, default=1.5)
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--seed", type=int, default=11)
    return ap.parse_args()


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(64, 128), nn.ReLU(),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, dim),
        )

    def forward(self, x):
        return self.body(x)


def euclidean(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1))


def contrastive(dist, same, margin):
    pull = same * dist.pow(2)
    push = (1 - same) * F.relu(margin - dist).pow(2)
    return (pull + push).mean()


def pair_stream(x, y, n_pairs, generator):
    by_class = [torch.where(y == c)[0] for c in range(10)]
    while True:
        left = torch.randint(len(x), (n_pairs,), generator=generator)
        same = (torch.rand(n_pairs, generator=generator) < 0.5).float()
        right = torch.randint(len(x), (n_pairs,), generator=generator)
        for k in range(n_pairs):
            if same[k] == 1:
                pool = by_class[int(y[left[k]])]
                right[k] = pool[torch.randint(len(pool), (1,), generator=generator)]
            else:
                while y[right[k]] == y[left[k]]:
                    right[k] = torch.randint(len(x), (1,), generator=generator)
        yield x[left], x[right], same


@torch.no_grad()
def retrieval_accuracy(model, x_ref, y_ref, x_q, y_q):
    model.eval()
    ref, query = model(x_ref), model(x_q)
    nearest = torch.cdist(query, ref).argmin(dim=1)
    return (y_ref[nearest] == y_q).float().mean().item()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)

    X, y = load_digits(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X / 16.0, y, test_size=0.3, stratify=y, random_state=1)
    x_tr = torch.tensor(X_tr, dtype=torch.float32)
    x_te = torch.tensor(X_te, dtype=torch.float32)
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

    model = Encoder(args.dim)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    stream = pair_stream(x_tr, y_tr, args.pairs, gen)

    running = 0.0
    for step in range(1, args.steps + 1):
        model.train()
        a, b, same = next(stream)
        loss = contrastive(euclidean(model(a), model(b)), same, args.margin)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
        if step % 100 == 0:
            print(f"step {step:4d}  loss {running / 100:.4f}")
            running = 0.0

    acc = retrieval_accuracy(model, x_tr, y_tr, x_te, y_te)
    print(f"nearest-neighbour accuracy on held-out digits: {acc:.3f}")


if __name__ == "__main__":
    main()
