"""Tiny causal language model for recipe steps: tied embeddings, bf16 autocast,
accumulation over micro-batches, hand-written inverse-sqrt schedule, EMA weights."""
import argparse
import contextlib
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

VERBS = "chop fry boil bake stir peel grate roast".split()
FOODS = "onion carrot potato cheese garlic leek beet apple".split()
TOOLS = "pan pot oven bowl board grater tray lid".split()
VOCAB = ["<s>", "the", "in", "then", "."] + VERBS + FOODS + TOOLS
ID = {w: i for i, w in enumerate(VOCAB)}


def recipe(g):
    """Each verb prefers its own tool (80%)."""
    r = lambda n: int(torch.randint(n, (1,), generator=g))
    words = ["<s>"]
    for _ in range(3):
        v, f = r(8), r(8)
        tool = v if torch.rand(1, generator=g) < 0.8 else r(8)
        words += [VERBS[v], "the", FOODS[f], "in", "the", TOOLS[tool], "then"]
    return words + ["stir", "the", FOODS[r(8)], "."]


def corpus(n, seed):
    g = torch.Generator().manual_seed(seed)
    return torch.tensor([[ID[w] for w in recipe(g)] for _ in range(n)])


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 3 * d), nn.GELU(), nn.Linear(3 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.n1(x)).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.n2(x))


class RecipeLM(nn.Module):
    def __init__(self, d=48, layers=2, heads=4, length=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(len(VOCAB), d), nn.Embedding(length, d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, len(VOCAB), bias=False)
        self.head.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=d ** -0.5)

    def forward(self, ids):
        x = self.tok(ids) * math.sqrt(self.tok.embedding_dim) + self.pos.weight[: ids.shape[1]]
        for blk in self.blocks:
            x = blk(x)
        return self.head(self.norm(x))


def nll(model, ids):
    logits = model(ids[:, :-1])
    return F.cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=200)
    ap.add_argument("--micro", type=int, default=32)
    ap.add_argument("--accum", type=int, default=2)
    ap.add_argument("--warmup", type=int, default=40)
    ap.add_argument("--peak", type=float, default=3e-3)
    a = ap.parse_args()
    torch.manual_seed(0)
    os.makedirs("out", exist_ok=True)
    train, test = corpus(3000, 1), corpus(500, 2)

    model = RecipeLM()
    ema = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.98))
    opt = torch.optim.AdamW(model.parameters(), lr=a.peak, betas=(0.9, 0.98), weight_decay=0.05)
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: min((s + 1) / a.warmup, math.sqrt(a.warmup / (s + 1))))
    amp = torch.autocast("cpu", dtype=torch.bfloat16) if torch.cpu._is_avx512_bf16_supported() \
        else contextlib.nullcontext()

    for step in range(a.steps):
        total = 0.0
        for _ in range(a.accum):
            batch = train[torch.randint(len(train), (a.micro,))]
            with amp:
                loss = nll(model, batch) / a.accum
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        opt.zero_grad(set_to_none=True)
        ema.update_parameters(model)
        if step % 25 == 0:
            print(f"step {step:4d} loss {total:.4f} lr {sched.get_last_lr()[0]:.2e}")

    counts = torch.bincount(train[:, 1:].flatten(), minlength=len(VOCAB)).float() + 1
    unigram = -(counts / counts.sum()).log()[test[:, 1:]].mean().item()
    ema.eval()
    with torch.no_grad():
        logits = ema(test[:, :-1])
        held = F.cross_entropy(logits.flatten(0, 1), test[:, 1:].flatten()).item()
        spots = torch.tensor([6, 13, 20])
        tool = (logits[:, spots - 1].argmax(-1) == test[:, spots]).float().mean().item()
    print(f"perplexity: unigram {math.exp(unigram):.2f}, model {math.exp(held):.3f}")
    print(f"right tool in {tool:.3f} of the steps (chance 0.125, ceiling 0.825)")


if __name__ == "__main__":
    main()
