"""Character model for part numbers: tied in/out embeddings, Lion, bfloat16 autocast, gradients over 4 slices, curriculum on length."""
import math
from contextlib import nullcontext

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

ALPHABET = "_ABCDEFGHJKLMNPRSTUVWXYZ0123456789-."
STOI = {c: i for i, c in enumerate(ALPHABET)}
SEQ = 28


def part_number(rng):
    """Family code, size, its double, revision, and a check letter from the digits."""
    family = ["BRG", "VLV", "PMP", "SHF", "GSK", "NUT"][rng.integers(6)]
    size = int(rng.integers(10, 50))
    rev = "ABCDEFGH"[rng.integers(8)]
    check = "KLMNPRSTUV"[(size // 10 + size % 10) % 10]
    body = f"{family}-{size}.{2 * size}-{rev}{rev}-{check}"
    extra = f"-{family[::-1]}" if rng.random() < 0.5 else ""
    return body + extra


def encode(n, seed):
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, SEQ + 1), dtype=np.int64)
    for r in rows:
        s = "_" + part_number(rng) + "_"
        r[: len(s)] = [STOI[c] for c in s]
        r[len(s):] = -100
    return torch.from_numpy(rows)


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for g in self.param_groups:
            b1, b2 = g["betas"]
            for p in g["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - g["lr"] * g["weight_decay"])
                p.add_(torch.sign(m * b1 + p.grad * (1 - b1)), alpha=-g["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


class CharLM(nn.Module):
    def __init__(self, dim=96, layers=2, heads=4):
        super().__init__()
        self.tok = nn.Embedding(len(ALPHABET), dim)
        self.pos = nn.Parameter(torch.randn(SEQ, dim) * 0.02)
        nn.init.normal_(self.tok.weight, std=0.05)
        block = nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, len(ALPHABET), bias=False)
        self.out.weight = self.tok.weight

    def forward(self, x):
        n = x.size(1)
        future = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
        h = self.body(self.tok(x) + self.pos[:n], mask=future)
        return self.out(self.norm(h))


def slice_loss(model, rows, reduction):
    x, y = rows[:, :-1].clamp(min=0), rows[:, 1:]
    return F.cross_entropy(model(x).float().flatten(0, 1), y.flatten(), ignore_index=-100, reduction=reduction)


def main(steps=170, batch=128, slices=4, lr=4e-4):
    torch.manual_seed(9)
    train, held = encode(4000, 1), encode(500, 2)
    order = torch.argsort((train >= 0).sum(1), stable=True)
    model = CharLM()
    norms = [p for p in model.parameters() if p.ndim < 2]
    mats = [p for p in model.parameters() if p.ndim >= 2]
    opt = Lion([{"params": mats, "weight_decay": 0.1}, {"params": norms}], lr=lr)
    warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / 20, 0.5 * (1 + math.cos(math.pi * s / steps))))
    amp = torch.autocast("cpu", dtype=torch.bfloat16) if torch.backends.mkldnn.is_available() else nullcontext()

    for step in range(steps):
        share = min(1.0, 0.5 + step / (0.4 * steps))  # short numbers first
        pick = order[torch.randint(0, int(share * len(order)), (batch,))]
        rows = train[pick]
        n_targets = (rows[:, 1:] >= 0).sum()
        opt.zero_grad(set_to_none=True)
        total = 0.0
        for part in rows.chunk(slices):
            with amp:
                loss = slice_loss(model, part, "sum") / n_targets
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        warm.step()
        if step % 34 == 0 or step == steps - 1:
            model.eval()
            with torch.no_grad():
                print(f"step {step} train {total:.3f} held-out {slice_loss(model, held, 'mean'):.3f} lr {warm.get_last_lr()[0]:.2e}")
            model.train()

    model.eval()
    with torch.no_grad():
        nll = slice_loss(model, held, "mean").item()
        y = train[:, 1:]
        freq = torch.bincount(y[y >= 0], minlength=len(ALPHABET)).float()
        t = held[:, 1:]
        base = -(freq / freq.sum()).clamp(min=1e-6).log()[t[t >= 0]].mean().item()
    print(f"held-out nats per character {nll:.3f} (unigram {base:.3f})")


if __name__ == "__main__":
    main()
