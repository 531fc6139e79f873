"""Stateful GRU language model over one long event stream (truncated backpropagation through time)."""
import math

import numpy as np
import torch
from torch import nn

VOCAB, LANES, SPAN = 12, 32, 20


def event_stream(n, seed=5):
    """second-order Markov chain; its entropy rate is the floor of the loss"""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(VOCAB, 0.35), size=(VOCAB, VOCAB))
    out = np.zeros(n, dtype=np.int64)
    nll = 0.0
    for t in range(2, n):
        p = table[out[t - 2], out[t - 1]]
        out[t] = rng.choice(VOCAB, p=p)
        nll -= math.log(p[out[t]])
    return out, nll / (n - 2)


class StreamModel(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 24)
        self.rnn = nn.GRU(24, hidden)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, x, state):
        h, state = self.rnn(self.embed(x), state)
        return self.out(h), state


def lanes(seq):
    n = len(seq) // LANES * LANES
    return torch.from_numpy(seq[:n]).view(LANES, -1).t().contiguous()


def windows(grid):
    for start in range(0, grid.size(0) - 1, SPAN):
        stop = min(start + SPAN, grid.size(0) - 1)
        yield grid[start:stop], grid[start + 1 : stop + 1]


@torch.no_grad()
def evaluate(model, grid):
    model.eval()
    state, total, count = None, 0.0, 0
    for x, y in windows(grid):
        logits, state = model(x, state)
        total += nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
        count += y.numel()
    return total / count


def main():
    torch.manual_seed(0)
    seq, floor = event_stream(100000)
    cut = 85000
    train, test = lanes(seq[:cut]), lanes(seq[cut:])
    model = StreamModel()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.85)
    for epoch in range(6):
        model.train()
        state, log = None, []
        for x, y in windows(train):
            if state is not None:
                state = state.detach()
            logits, state = model(x, state)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
            for p in model.parameters():
                p.grad = None
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()
            log.append(loss.item())
        sched.step()
        print(f"epoch {epoch:2d} train {np.mean(log):.4f} test {evaluate(model, test):.4f}")
    counts = np.bincount(seq[:cut], minlength=VOCAB) / cut
    unigram = -np.log(counts[seq[cut:]]).mean()
    print(f"test nll {evaluate(model, test):.4f} | entropy rate {floor:.4f} | unigram {unigram:.4f} | ln k {math.log(VOCAB):.4f}")


if __name__ == "__main__":
    main()
