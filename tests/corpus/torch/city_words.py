"""Skip-gram with negatives plus a small classifier on the same vectors: SparseAdam for the tables, AdamW for the rest."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Opts:
    words: int = 600
    groups: int = 6
    sentences: int = 2500
    length: int = 12
    dim: int = 24
    batch: int = 256
    epochs: int = 6
    negatives: int = 5
    labelled: int = 120
    seed: int = 33


def corpus(o, rng):
    group = rng.integers(0, o.groups, o.words)
    members = [np.flatnonzero(group == k) for k in range(o.groups)]
    text = []
    for _ in range(o.sentences):
        k = rng.integers(o.groups)
        own = rng.choice(members[k], o.length)
        noise = rng.integers(0, o.words, o.length)
        text.append(np.where(rng.random(o.length) < 0.8, own, noise))
    text = np.array(text)
    pairs = []
    for gap in (1, 2, 3):
        pairs.append(np.stack([text[:, :-gap].ravel(), text[:, gap:].ravel()], 1))
        pairs.append(np.stack([text[:, gap:].ravel(), text[:, :-gap].ravel()], 1))
    return torch.from_numpy(np.concatenate(pairs)), torch.from_numpy(group)


class Vectors(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.centre = nn.Embedding(o.words, o.dim, sparse=True)
        self.context = nn.Embedding(o.words, o.dim, sparse=True)
        self.head = nn.Sequential(nn.Linear(o.dim, 32), nn.ReLU(), nn.Linear(32, o.groups))
        nn.init.normal_(self.centre.weight, std=0.1)
        nn.init.zeros_(self.context.weight)

    def skipgram(self, c, pos, neg):
        v = self.centre(c)
        good = F.logsigmoid((v * self.context(pos)).sum(-1))
        bad = F.logsigmoid(-(self.context(neg) @ v.unsqueeze(-1)).squeeze(-1)).sum(-1)
        return -(good + bad).mean()

    def classify(self, w):
        return self.head(self.centre(w))


def main():
    o = Opts()
    rng = np.random.default_rng(o.seed)
    torch.manual_seed(o.seed)
    pairs, group = corpus(o, rng)
    known = torch.from_numpy(rng.choice(o.words, o.labelled, replace=False))
    hidden = torch.ones(o.words, dtype=torch.bool)
    hidden[known] = False
    test = hidden.nonzero().squeeze(1)

    net = Vectors(o)
    sparse = torch.optim.SparseAdam([net.centre.weight, net.context.weight], lr=5e-3)
    dense = torch.optim.AdamW(net.head.parameters(), lr=3e-3, weight_decay=0.05)

    for epoch in range(o.epochs):
        sg, cl = [], []
        for idx in torch.randperm(len(pairs)).split(o.batch):
            c, pos = pairs[idx].unbind(1)
            neg = torch.randint(0, o.words, (len(idx), o.negatives))
            w = known[torch.randint(0, len(known), (32,))]
            loss_sg = net.skipgram(c, pos, neg)
            loss_cl = F.cross_entropy(net.classify(w), group[w])
            sparse.zero_grad()
            dense.zero_grad()
            (loss_sg + 0.1 * loss_cl).backward()
            sparse.step()
            dense.step()
            sg.append(loss_sg.item())
            cl.append(loss_cl.item())
        with torch.no_grad():
            acc = (net.classify(test).argmax(1) == group[test]).float().mean().item()
        print(f"epoch {epoch} skip-gram {np.mean(sg):.3f} labels {np.mean(cl):.3f} unseen-word accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
