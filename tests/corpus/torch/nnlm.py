"""Feed-forward neural language model (Bengio et al. 2003) on a toy corpus."""
import argparse
import math
import random

import torch
from torch import nn, optim
import torch.nn.functional as F

NAMES = "anna boris clara david elena felix".split()
VERBS = {"eats": "bread soup rice apples".split(),
         "reads": "books letters poems maps".split(),
         "drives": "cars trucks buses vans".split(),
         "plays": "chess football violin cards".split()}
PLACES = "home school work town".split()


def make_corpus(n, rng):
    words = []
    for _ in range(n):
        v = rng.choice(list(VERBS))
        words += ["<s>", rng.choice(NAMES), v, rng.choice(VERBS[v]), "at", rng.choice(PLACES), "."]
    return words


class NNLM(nn.Module):
    def __init__(self, n_vocab, n_ctx, dim, hidden):
        super().__init__()
        self.C = nn.Embedding(n_vocab, dim)
        self.H = nn.Linear(n_ctx * dim, hidden)
        self.U = nn.Linear(hidden, n_vocab)

    def forward(self, ctx):
        e = self.C(ctx).flatten(1)
        h = torch.tanh(self.H(e))
        return F.softmax(self.U(h), dim=-1)


def windows(ids, k):
    x = torch.stack([ids[i:i + k] for i in range(len(ids) - k)])
    return x, ids[k:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--context", type=int, default=3)
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--hidden", type=int, default=48)
    ap.add_argument("--lr", type=float, default=0.3)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch", type=int, default=64)
    args = ap.parse_args()

    torch.manual_seed(0)
    rng = random.Random(0)
    train_words, dev_words = make_corpus(800, rng), make_corpus(120, rng)
    vocab = {w: i for i, w in enumerate(sorted(set(train_words)))}
    xtr, ytr = windows(torch.tensor([vocab[w] for w in train_words]), args.context)
    xdv, ydv = windows(torch.tensor([vocab[w] for w in dev_words]), args.context)

    model = NNLM(len(vocab), args.context, args.dim, args.hidden)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=args.lr)

    for ep in range(1, args.epochs + 1):
        perm = torch.randperm(len(xtr))
        total = 0.0
        for i in range(0, len(perm), args.batch):
            idx = perm[i:i + args.batch]
            optimizer.zero_grad()
            loss = criterion(model(xtr[idx]), ytr[idx])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        with torch.no_grad():
            out = model(xdv)
            dev = criterion(out, ydv).item()
            hit = (out.argmax(1) == ydv).float().mean().item()
        print(f"ep {ep:02d} | train {total / len(xtr):.3f} | dev {dev:.3f} | ppl {math.exp(dev):.1f} | top1 {hit:.3f}")


if __name__ == "__main__":
    main()
