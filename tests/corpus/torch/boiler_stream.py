"""Boiler fault state from a long stream, read in order with the hidden state carried over."""
import numpy as np
import torch
from torch import nn


class StreamLabeller(nn.Module):
    def __init__(self, n_in=4, hidden=32):
        super().__init__()
        self.gru = nn.GRU(n_in, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x, h=None):
        z, h = self.gru(x, h)
        return self.out(z), h


class Stream:
    """Lanes of one recording each, time first; chunks come in time order."""

    def __init__(self, lanes, steps, seed):
        g = np.random.default_rng(seed)
        x = g.normal(0, 0.3, (steps, lanes, 4))
        y = np.zeros((steps, lanes), dtype=int)
        state = np.zeros(lanes, dtype=int)
        for t in range(steps):
            on, off = g.random(lanes) < 0.02, g.random(lanes) < 0.02
            x[t, on, 0] += 2.0
            x[t, off, 1] += 2.0
            state = np.where(on & ~off, 1, np.where(off & ~on, 0, state))
            y[t] = state
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(y)

    def chunks(self, size):
        for s in range(0, len(self.x), size):
            yield self.x[s:s + size], self.y[s:s + size]


def epoch(model, stream, size, opt=None):
    model.train(opt is not None)
    h, tot, hit, n = None, 0.0, 0, 0
    with torch.set_grad_enabled(opt is not None):
        for x, y in stream.chunks(size):
            logits, h = model(x, h)
            loss = nn.functional.cross_entropy(logits.reshape(-1, 2), y.reshape(-1))
            if opt is not None:
                opt.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
            h = h.detach()
            tot += loss.item() * y.numel()
            hit += (logits.argmax(-1) == y).sum().item()
            n += y.numel()
    return tot / n, hit / n


def main():
    torch.manual_seed(0)
    train, test = Stream(24, 2400, 1), Stream(8, 2400, 2)
    model = StreamLabeller()
    opt = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    for e in range(14):
        tl, ta = epoch(model, train, 40, opt)
        vl, va = epoch(model, test, 200)
        print(f"{e:2d} train {tl:.3f}/{ta:.3f} test {vl:.3f}/{va:.3f}")


if __name__ == "__main__":
    main()
