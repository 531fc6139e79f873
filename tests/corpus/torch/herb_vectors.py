"""Skip-gram vectors with negative sampling; sparse tables and a dense part have an optimizer each."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

GROUPS = 12
PER_GROUP = 40
VOCAB = GROUPS * PER_GROUP
WINDOW = 2


def corpus(n_sent, seed):
    g = np.random.default_rng(seed)
    freq = 1 / np.arange(1, PER_GROUP + 1) ** 0.5
    freq /= freq.sum()
    group = g.integers(0, GROUPS, n_sent)
    words = g.choice(PER_GROUP, size=(n_sent, 8), p=freq) + group[:, None] * PER_GROUP
    stray = g.random(words.shape) < 0.15
    words[stray] = g.integers(0, VOCAB, int(stray.sum()))
    return words


def pairs(words):
    a, b = [], []
    for shift in range(1, WINDOW + 1):
        left, right = words[:, :-shift].ravel(), words[:, shift:].ravel()
        a += [left, right]
        b += [right, left]
    return np.concatenate(a), np.concatenate(b)


class SkipGram(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.center = nn.Embedding(VOCAB, dim, sparse=True)
        self.context = nn.Embedding(VOCAB, dim, sparse=True)
        nn.init.normal_(self.center.weight, std=0.1)
        nn.init.zeros_(self.context.weight)
        self.gate = nn.Linear(dim, dim)

    def forward(self, c, pos, neg):
        v = self.center(c)
        v = v * torch.sigmoid(self.gate(v)) * 2
        good = (v * self.context(pos)).sum(-1)
        bad = torch.bmm(self.context(neg), v.unsqueeze(-1)).squeeze(-1)
        return -(F.logsigmoid(good) + F.logsigmoid(-bad).sum(-1)).mean()


def neighbours(model, k=5):
    """Share of nearest neighbours that belong to the same group."""
    w = F.normalize(model.center.weight.detach(), dim=1)
    sim = w @ w.T
    sim.fill_diagonal_(-2)
    near = sim.topk(k, dim=1).indices
    own = torch.arange(VOCAB)[:, None] // PER_GROUP
    return (near // PER_GROUP == own).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(14)
    words = corpus(18000, 0)
    c, o = (torch.from_numpy(v) for v in pairs(words))
    noise = torch.bincount(torch.from_numpy(words.ravel()), minlength=VOCAB).float().pow(0.75)
    model = SkipGram()
    tables = [model.center.weight, model.context.weight]
    sparse_opt = torch.optim.SparseAdam(tables, lr=5e-4)
    dense_opt = torch.optim.AdamW(model.gate.parameters(), lr=5e-4)
    print(len(c), "pairs; neighbours before", round(neighbours(model), 3))
    for epoch in range(6):
        run = 0.0
        parts = torch.randperm(len(c)).split(512)
        for idx in parts:
            neg = torch.multinomial(noise, len(idx) * 5, replacement=True).view(-1, 5)
            loss = model(c[idx], o[idx], neg)
            sparse_opt.zero_grad()
            dense_opt.zero_grad()
            loss.backward()
            sparse_opt.step()
            dense_opt.step()
            run += loss.item()
        print(f"epoch {epoch} loss {run / len(parts):.4f} neighbours in group {neighbours(model):.3f}")
