# early-warning model on ICU stays: 24 hourly rows of vitals -> deterioration within the next shift
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CFG = dict(hours=24, vitals=6, hidden=40, batch_size=50, epochs=9, lr=4e-3, seed=5)


class Stays(Dataset):
    """Synthetic stays. A stay deteriorates when the heart rate climbs while the pressure falls."""

    def __init__(self, n, gen):
        t = torch.linspace(0, 1, CFG["hours"])
        base = torch.randn(n, 1, CFG["vitals"], generator=gen) * 0.6
        noise = torch.randn(n, CFG["hours"], CFG["vitals"], generator=gen) * 0.35
        slopes = torch.randn(n, CFG["vitals"], generator=gen)
        self.x = base + noise + slopes[:, None, :] * t[None, :, None] * 2.0
        risk = slopes[:, 0] - slopes[:, 1] + 0.4 * slopes[:, 2].abs() - 0.3
        self.y = (risk > 0).float()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Warner(nn.Module):
    def __init__(self, vitals, hidden):
        super().__init__()
        self.inp = nn.Linear(vitals, hidden)
        self.gru = nn.GRU(hidden, hidden, num_layers=1)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        batch, steps, _ = x.shape
        z = F.gelu(self.inp(x))
        out, _ = self.gru(z.view(steps, batch, -1))
        return self.head(self.norm(out[-1])).squeeze(-1)


def lr_at(step, total, peak):
    warm = max(1, total // 10)
    if step < warm:
        return peak * (step + 1) / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))


def auroc(scores, labels):
    order = scores.argsort()
    ranks = torch.empty_like(scores)
    ranks[order] = torch.arange(1, len(scores) + 1, dtype=scores.dtype)
    pos = labels.sum()
    neg = len(labels) - pos
    return ((ranks[labels == 1].sum() - pos * (pos + 1) / 2) / (pos * neg)).item()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    scores, labels = [], []
    for x, y in loader:
        scores.append(model(x))
        labels.append(y)
    scores, labels = torch.cat(scores), torch.cat(labels)
    return F.binary_cross_entropy_with_logits(scores, labels).item(), auroc(scores, labels)


def main():
    random.seed(CFG["seed"])
    torch.manual_seed(CFG["seed"])
    gen = torch.Generator().manual_seed(CFG["seed"])
    train = DataLoader(Stays(1500, gen), batch_size=CFG["batch_size"], shuffle=True, drop_last=True)
    valid = DataLoader(Stays(500, gen), batch_size=CFG["batch_size"])

    model = Warner(CFG["vitals"], CFG["hidden"])
    opt = torch.optim.Adam(model.parameters(), lr=CFG["lr"])
    total, step = CFG["epochs"] * len(train), 0
    for epoch in range(CFG["epochs"]):
        model.train()
        running = 0.0
        for x, y in train:
            for group in opt.param_groups:
                group["lr"] = lr_at(step, total, CFG["lr"])
            loss = F.binary_cross_entropy_with_logits(model(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            running += loss.item()
            step += 1
        val_loss, auc = evaluate(model, valid)
        print(f"epoch {epoch} train {running / len(train):.4f} valid {val_loss:.4f} auroc {auc:.3f}")


if __name__ == "__main__":
    main()
