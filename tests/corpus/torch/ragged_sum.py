"""Count claims of a customer from a ragged history, one sequence at a time."""
from itertools import islice

import numpy as np
import torch
from torch import nn

GROUP = 32


def histories(seed):
    """endless generator of (events, number of claims)"""
    rng = np.random.default_rng(seed)
    while True:
        n = int(rng.integers(3, 18))
        events = rng.normal(size=(n, 4))
        events[:, 3] = rng.random(n) < 0.3
        rate = np.exp(-0.2 + 0.8 * events[-1, 0] + 0.35 * events[:, 3].sum() - 0.5 * events[:, 1].mean())
        yield torch.tensor(events, dtype=torch.float32), float(rng.poisson(min(rate, 30.0)))


class ClaimRate(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(4, hidden)
        self.log_rate = nn.Linear(hidden, 1)

    def forward(self, events):
        _, (h, _) = self.lstm(events)
        return self.log_rate(h[-1]).squeeze(-1)


class Fitter:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.RMSprop(model.parameters(), lr=lr)
        self.loss = nn.PoissonNLLLoss(log_input=True, reduction="sum")

    def run(self, stream, updates):
        pending, total, trace = 0, 0.0, []
        self.opt.zero_grad()
        while len(trace) < updates:
            events, claims = next(stream)
            loss = self.loss(self.model(events), torch.tensor(claims))
            loss.backward()
            pending += 1
            total += loss.item()
            if pending < GROUP:
                continue
            for p in self.model.parameters():
                p.grad /= pending
            nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
            self.opt.step()
            self.opt.zero_grad()
            trace.append(total / pending)
            pending, total = 0, 0.0
        return trace


@torch.no_grad()
def deviance(model, sample, constant=None):
    out = 0.0
    for events, y in sample:
        mu = constant if model is None else model(events).exp().item()
        out += 2 * ((y * np.log(y / mu) if y > 0 else 0.0) - (y - mu))
    return out / len(sample)


torch.manual_seed(9)
test = list(islice(histories(999), 400))
model = ClaimRate()
fitter = Fitter(model, lr=2e-3)
stream = histories(1)
for phase in range(5):
    trace = fitter.run(stream, 60)
    print(f"phase {phase} poisson loss {np.mean(trace):.4f} deviance {deviance(model, test):.4f}")
mean = np.mean([y for _, y in test])
print(f"test deviance {deviance(model, test):.4f} | constant rate {deviance(None, test, mean):.4f}")
