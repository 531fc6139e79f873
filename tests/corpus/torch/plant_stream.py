"""Power of a plant, followed as a stream: state is carried from one chunk to the next."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Cfg:
    lanes: int = 16
    chunk: int = 25
    steps: int = 1500
    hidden: int = 32
    lr: float = 4e-3
    epochs: int = 24
    seed: int = 9


def plant(lanes, steps, rng):
    switch = (rng.random((lanes, steps)) < 0.02) * rng.choice([-1.0, 1.0], (lanes, steps))
    mode = np.zeros((lanes, steps))
    for t in range(1, steps):
        mode[:, t] = np.where(switch[:, t] != 0, switch[:, t], mode[:, t - 1])
    load = rng.normal(size=(lanes, steps))
    power = mode * (1.0 + 0.5 * load) + 0.05 * rng.normal(size=(lanes, steps))
    x = np.stack([switch, load], -1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(power, dtype=torch.float32)


class Stream(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.LSTM(2, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden + 2, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x, state=None):
        h, state = self.rnn(x, state)
        return self.head(torch.cat([h, x], -1)).squeeze(-1), state


def pass_over(model, x, y, cfg, opt=None):
    state, total, count = None, 0.0, 0
    model.train(opt is not None)
    with torch.set_grad_enabled(opt is not None):
        for lo in range(0, x.size(1), cfg.chunk):
            pred, state = model(x[:, lo:lo + cfg.chunk], state)
            state = tuple(s.detach() for s in state)
            loss = (pred - y[:, lo:lo + cfg.chunk]).pow(2).mean()
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
            total += loss.item()
            count += 1
    return total / count


def main(cfg=Cfg()):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x, y = plant(cfg.lanes, cfg.steps, rng)
    xv, yv = plant(8, cfg.steps, rng)
    model = Stream(cfg.hidden)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    print(f"variance of the target {yv.var():.3f}")
    for e in range(cfg.epochs):
        a = pass_over(model, x, y, cfg, opt)
        b = pass_over(model, xv, yv, cfg)
        print(f"epoch {e} train {a:.4f} valid {b:.4f}")


if __name__ == "__main__":
    main()
