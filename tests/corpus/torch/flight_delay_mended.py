"""Delay of flights from categorical columns (origin, destination, carrier, weekday) and the departure hour."""
import numpy as np
import torch
import torch.nn as nn

CARDS = {"origin": 180, "dest": 180, "carrier": 40, "weekday": 7}


def make(n, seed):
    w = np.random.default_rng(123)
    eff = {k: w.normal(0, 1, c) for k, c in CARDS.items()}
    g = np.random.default_rng(seed)
    cats = {k: g.integers(0, c, n) for k, c in CARDS.items()}
    hour = g.uniform(5, 23, n)
    delay = (9 * eff["origin"][cats["origin"]] + 7 * eff["dest"][cats["dest"]] + 5 * eff["carrier"][cats["carrier"]]
             + 2 * eff["weekday"][cats["weekday"]] + 5 * np.sin((hour - 6) / 17 * np.pi) * (1 + 0.5 * eff["origin"][cats["origin"]]))
    delay = delay + g.normal(0, 2, n)
    return ({k: torch.as_tensor(v) for k, v in cats.items()},
            torch.as_tensor((hour - 14) / 5, dtype=torch.float32).unsqueeze(1),
            torch.as_tensor(delay, dtype=torch.float32))


class EntityNet(nn.Module):
    def __init__(self, cards, dim=3, hidden=64):
        super().__init__()
        self.columns = list(cards)
        self.tables = nn.ModuleDict({c: nn.Embedding(n, dim) for c, n in cards.items()})
        self.mlp = nn.Sequential(
            nn.Linear(dim * len(cards) + 1, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, cats, hour):
        parts = [self.tables[c](cats[c]) for c in self.columns]
        return self.mlp(torch.cat(parts + [hour], dim=1)).squeeze(1)


def r2(pred, y):
    return (1 - (pred - y).pow(2).sum() / (y - y.mean()).pow(2).sum()).item()


torch.manual_seed(0)
cats, hour, y = make(12000, 0)
vcats, vhour, vy = make(2000, 1)
mu, sd = y.mean(), y.std()
model = EntityNet(CARDS)
opt = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-6)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=15)

for epoch in range(15):
    model.train()
    acc = 0.0
    for idx in torch.randperm(len(y)).split(128):
        out = model({k: v[idx] for k, v in cats.items()}, hour[idx])
        loss = nn.functional.mse_loss(out, (y[idx] - mu) / sd)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        acc += loss.item() * len(idx)
    sched.step()
    model.eval()
    with torch.no_grad():
        p = model(vcats, vhour) * sd + mu
    print(f"[{epoch:02d}] train mse {acc / len(y):.4f}   val r2 {r2(p, vy):.3f}   val mae {(p - vy).abs().mean():.2f} min")
