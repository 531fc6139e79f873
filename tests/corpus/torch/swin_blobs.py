# Tiny Swin on synthetic 32x32 pictures: which of 6 figure/texture combinations is in it?
import math
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rng = np.random.default_rng(0)


def make(n):
    yy, xx = np.mgrid[0:32, 0:32]
    X = rng.normal(0, 0.25, (n, 1, 32, 32)).astype("float32")
    y = rng.integers(0, 6, n)
    for i in range(n):
        cx, cy, r = rng.uniform(9, 23), rng.uniform(9, 23), rng.uniform(6, 9)
        shape, tex = divmod(int(y[i]), 3)
        d = np.hypot(xx - cx, yy - cy)
        mask = d < r if shape == 0 else (d < r + 3) & (d > r - 1)      # disc or ring
        ph = rng.uniform(0, 2 * math.pi)
        wave = [np.sin(xx * 1.6 + ph), np.sin(yy * 1.6 + ph), np.sin((xx + yy) * 0.8 + ph)][tex]
        X[i, 0] += mask * (0.6 + 0.9 * wave)
    return torch.tensor(X), torch.tensor(y)


def to_windows(x, w):                       # B,H,W,C -> B*nW, w*w, C
    B, H, W, C = x.shape
    x = x.view(B, H // w, w, W // w, w, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, C)


def from_windows(x, w, H, W):
    C = x.shape[-1]
    x = x.view(-1, H // w, W // w, w, w, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, H, W, C)


class SwinLayer(nn.Module):
    def __init__(self, dim, heads, side, w=4, shift=0):
        super().__init__()
        self.h, self.w, self.shift = heads, w, shift
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim))
        self.bias = nn.Parameter(torch.zeros(heads, (2 * w - 1) ** 2))
        p = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(w), indexing="ij")).flatten(1)
        rel = p[:, :, None] - p[:, None] + w - 1
        self.register_buffer("rel", rel[0] * (2 * w - 1) + rel[1])
        mask = torch.zeros(side // w * (side // w), w * w, w * w)
        if shift:
            zone = torch.zeros(1, side, side, 1)
            cuts = (slice(0, -w), slice(-w, -shift), slice(-shift, None))
            for k, (a, b) in enumerate((a, b) for a in cuts for b in cuts):
                zone[:, a, b] = k
            z = to_windows(zone, w).squeeze(-1)
            mask = mask.masked_fill(z[:, :, None] != z[:, None], -1e4)
        self.register_buffer("mask", mask)

    def forward(self, x):
        B, H, W, C = x.shape
        y = self.n1(x)
        if self.shift:
            y = torch.roll(y, (-self.shift, -self.shift), (1, 2))
        y = to_windows(y, self.w)
        N, L, _ = y.shape
        q, k, v = self.qkv(y).view(N, L, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / math.sqrt(C // self.h) + self.bias[:, self.rel]
        nW = self.mask.shape[0]
        att = (att.view(B, nW, self.h, L, L) + self.mask[None, :, None]).view(N, self.h, L, L)
        y = (att.softmax(-1) @ v).transpose(1, 2).reshape(N, L, C)
        y = from_windows(self.out(y), self.w, H, W)
        if self.shift:
            y = torch.roll(y, (self.shift, self.shift), (1, 2))
        x = x + y
        return x + self.mlp(self.n2(x))


class Merge(nn.Module):
    def __init__(self, dim, out):
        super().__init__()
        self.norm, self.red = nn.LayerNorm(4 * dim), nn.Linear(4 * dim, out, bias=False)

    def forward(self, x):
        B, H, W, C = x.shape
        x = x.view(B, H // 2, 2, W // 2, 2, C).permute(0, 1, 3, 4, 2, 5).reshape(B, H // 2, W // 2, 4 * C)
        return self.red(self.norm(x))


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.GELU(), nn.Conv2d(16, 32, 2, 2))
        self.body = nn.Sequential(SwinLayer(32, 2, 16), SwinLayer(32, 2, 16, shift=2), Merge(32, 48),
                                  SwinLayer(48, 4, 8), SwinLayer(48, 4, 8, shift=2))
        self.norm, self.head = nn.LayerNorm(48), nn.Linear(48, 6)

    def forward(self, x):
        x = self.body(self.patch(x).permute(0, 2, 3, 1))
        return self.head(self.norm(x).mean((1, 2)))


probe = torch.arange(2 * 8 * 8 * 3.).view(2, 8, 8, 3)
assert torch.equal(from_windows(to_windows(probe, 4), 4, 8, 8), probe)

Xtr, ytr = make(1200)
Xte, yte = make(400)
net = Swin()
STEPS, BS = 130, 48
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.05, betas=(0.9, 0.98))
lr_at = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / 15, 0.5 * (1 + math.cos(math.pi * s / STEPS))))
t0 = time.time()
for step in range(STEPS):
    idx = torch.randint(0, len(Xtr), (BS,))
    loss = F.cross_entropy(net(Xtr[idx]), ytr[idx], label_smoothing=0.05)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    lr_at.step()
    if step % 30 == 0:
        print(f"{step:4d} loss {loss.item():.3f} |g| {gn:.2f} {time.time() - t0:.1f}s")
net.eval()
with torch.inference_mode():
    acc = (net(Xte).argmax(1) == yte).float().mean().item()
print(f"test accuracy {acc:.3f}  (most frequent class {np.bincount(yte).max() / len(yte):.3f})")
