# Tag every event of a browsing session: did this visitor look at the same item earlier in the
# session? Hand-written causal transformer, ~30k parameters.
import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_items: int = 60
    length: int = 24
    dim: int = 48
    heads: int = 4
    layers: int = 2
    lr: float = 2e-3
    steps: int = 700
    batch: int = 64
    warmup: int = 50
    seed: int = 0


def make_sessions(n, cfg, rng):
    """Items drawn from a popularity law, with deliberate returns to earlier items."""
    pop = 1.0 / np.arange(1, cfg.n_items + 1) ** 0.3
    pop /= pop.sum()
    x = np.zeros((n, cfg.length), np.int64)
    y = np.zeros((n, cfg.length), np.float32)
    for s in range(n):
        seen = set()
        for t in range(cfg.length):
            if t and rng.random() < 0.35:
                item = x[s, rng.integers(0, t)]
            else:
                item = rng.choice(cfg.n_items, p=pop)
            x[s, t] = item
            y[s, t] = float(item in seen)
            seen.add(item)
    return torch.from_numpy(x), torch.from_numpy(y)


class CausalSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=-1)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).reshape(B, T, C)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.attn = CausalSelfAttention(cfg.dim, cfg.heads)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 2 * cfg.dim), nn.GELU(), nn.Linear(2 * cfg.dim, cfg.dim))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class RepeatTagger(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.item = nn.Embedding(cfg.n_items, cfg.dim)
        self.pos = nn.Parameter(0.02 * torch.randn(cfg.length, cfg.dim))
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.layers)])
        self.norm = nn.LayerNorm(cfg.dim)
        self.out = nn.Linear(cfg.dim, 1)

    def forward(self, x):
        h = self.item(x) + self.pos[: x.shape[1]]
        for b in self.blocks:
            h = b(h)
        return self.out(self.norm(h)).squeeze(-1)


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    p = torch.sigmoid(model(x)) > 0.5
    acc = (p == y.bool()).float().mean().item()
    tp = (p & y.bool()).sum().item()
    f1 = 2 * tp / max(p.sum().item() + y.sum().item(), 1)
    model.train()
    return acc, f1


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    xtr, ytr = make_sessions(2500, cfg, rng)
    xva, yva = make_sessions(300, cfg, rng)
    model = RepeatTagger(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
    warm = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: min((s + 1) / cfg.warmup, 1.0) * (1 - 0.9 * s / cfg.steps))
    t0 = time.time()
    for step in range(1, cfg.steps + 1):
        idx = torch.randint(0, len(xtr), (cfg.batch,))
        loss = F.binary_cross_entropy_with_logits(model(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        warm.step()
        if step % 100 == 0:
            acc, f1 = evaluate(model, xva, yva)
            print(f"step {step:4d} loss {loss.item():.4f} val acc {acc:.3f} f1 {f1:.3f} ({time.time() - t0:.1f}s)")
    base = max(yva.mean().item(), 1 - yva.mean().item())
    acc, f1 = evaluate(model, xva, yva)
    print(f"majority {base:.3f} | held-out acc {acc:.3f} f1 {f1:.3f}")
