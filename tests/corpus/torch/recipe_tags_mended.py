from dataclasses import dataclass
import numpy as np
import torch
from torch import nn
from sklearn.metrics import f1_score

TAGS = ["vegan", "spicy", "dessert", "quick", "soup", "gluten_free", "festive", "kids"]


@dataclass
class Config:
    n_recipes: int = 5000
    vocab: int = 600
    dim: int = 48
    lr: float = 3e-3
    batch: int = 64
    epochs: int = 12
    seed: int = 21


def build_corpus(cfg):
    rng = np.random.default_rng(cfg.seed)
    rates = np.array([0.15, 0.18, 0.16, 0.2, 0.1, 0.12, 0.08, 0.14])
    tags = (rng.random((cfg.n_recipes, len(TAGS))) < rates).astype(np.float32)
    pools = [rng.choice(np.arange(2, cfg.vocab), 25, replace=False) for _ in TAGS]
    rows = []
    for r in range(cfg.n_recipes):
        words = list(rng.integers(2, cfg.vocab, rng.integers(8, 18)))
        for k in np.flatnonzero(tags[r]):
            words += list(rng.choice(pools[k], 4))
        rng.shuffle(words)
        rows.append(words)
    return rows, tags


def batches(rows, tags, size, rng=None):
    order = np.arange(len(rows))
    if rng is not None:
        rng.shuffle(order)
    for s in range(0, len(order), size):
        idx = order[s:s + size]
        flat = torch.tensor(np.concatenate([rows[i] for i in idx]))
        lens = [len(rows[i]) for i in idx]
        offsets = torch.tensor([0] + list(np.cumsum(lens)[:-1]))
        yield flat, offsets, torch.from_numpy(tags[idx])


class Tagger(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.bag = nn.EmbeddingBag(cfg.vocab, cfg.dim, mode="mean")
        self.hidden = nn.Linear(cfg.dim, 64)
        self.out = nn.Linear(64, len(TAGS))

    def forward(self, flat, offsets):
        h = torch.relu(self.hidden(self.bag(flat, offsets)))
        return torch.sigmoid(self.out(h))


def evaluate(model, rows, tags):
    model.eval()
    with torch.no_grad():
        probs = torch.cat([model(f, o) for f, o, _ in batches(rows, tags, 256)])
    pred = (probs > 0.5).numpy()
    return f1_score(tags, pred, average="macro", zero_division=0), pred.mean()


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    rows, tags = build_corpus(cfg)
    cut = int(0.8 * len(rows))
    model = Tagger(cfg)
    criterion = nn.BCELoss()
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    rng = np.random.default_rng(0)
    for epoch in range(cfg.epochs):
        model.train()
        losses = []
        for flat, offsets, y in batches(rows[:cut], tags[:cut], cfg.batch, rng):
            opt.zero_grad()
            loss = criterion(model(flat, offsets), y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        f1, rate = evaluate(model, rows[cut:], tags[cut:])
        print(f"epoch {epoch:2d} loss {np.mean(losses):.4f} macro-F1 {f1:.3f} predicted tag rate {rate:.3f}")
    print(f"final macro-F1 {f1:.3f} (true tag rate {tags[cut:].mean():.3f})")


if __name__ == "__main__":
    main()
