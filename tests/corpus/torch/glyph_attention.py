"""Digits as 16 patches with hand-written attention. The loss goes into backward() times
4096 and the gradients are divided again before clipping (the same loop runs in fp16 elsewhere)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.linear_model import LogisticRegression

SCALE = 4096.0


def patches(img, p=2):
    b, hgt, wid = img.shape
    x = img.reshape(b, hgt // p, p, wid // p, p)
    return x.permute(0, 1, 3, 2, 4).reshape(b, (hgt // p) * (wid // p), p * p)


def fold(tok, p=2, side=8):
    b = tok.shape[0]
    x = tok.reshape(b, side // p, side // p, p, p)
    return x.permute(0, 1, 3, 2, 4).reshape(b, side, side)


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h, self.dk = heads, d // heads
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.o = nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        # (b, n, 3, h, dk) -> (3, b, h, n, dk)
        q, k, v = self.qkv(x).view(b, n, 3, self.h, self.dk).permute(2, 0, 3, 1, 4)
        # the root goes half on q, half on k: keeps the products small
        w = torch.einsum("bhqd,bhkd->bhqk", q * self.dk ** -0.25, k * self.dk ** -0.25).softmax(-1)
        return self.o(torch.einsum("bhqk,bhkd->bqhd", w, v).reshape(b, n, d))


def shuffle_channels(x, groups):
    b, n, d = x.shape
    return x.view(b, n, groups, d // groups).transpose(2, 3).reshape(b, n, d)


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.att = Attention(d, heads)
        self.g1, self.g2 = nn.Conv1d(d, 2 * d, 1, groups=4), nn.Conv1d(2 * d, d, 1, groups=4)

    def forward(self, x):
        x = x + self.att(self.n1(x))
        y = F.gelu(self.g1(self.n2(x).transpose(1, 2))).transpose(1, 2)
        return x + self.g2(shuffle_channels(y, 4).transpose(1, 2)).transpose(1, 2)


class GlyphNet(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.inp = nn.Linear(4, d)
        self.pos = nn.Parameter(0.02 * torch.randn(1, 16, d))
        self.blocks = nn.Sequential(Block(d, 4), Block(d, 4))
        self.cls, self.rec = nn.Linear(16 * 8, 10), nn.Linear(d, 4)
        self.squeeze = nn.Linear(d, 8)

    def forward(self, img):
        h = self.blocks(self.inp(patches(img)) + self.pos)
        return self.cls(F.gelu(self.squeeze(h)).flatten(1)), fold(self.rec(h))


def main():
    torch.manual_seed(2)
    d = load_digits()
    xa, xb, ya, yb = train_test_split(d.images / 16.0, d.target, test_size=0.3, random_state=2, stratify=d.target)
    xa, xb = torch.tensor(xa, dtype=torch.float32), torch.tensor(xb, dtype=torch.float32)
    ya, yb = torch.tensor(ya), torch.tensor(yb)
    assert torch.equal(fold(patches(xa)), xa)
    net = GlyphNet()
    opt = torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=0.02)
    epochs, bs = 18, 48
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs * (len(xa) // bs))
    for ep in range(epochs):
        net.train()
        tot = 0.0
        for idx in torch.randperm(len(xa))[:len(xa) // bs * bs].view(-1, bs):
            clean = xa[idx]
            logits, rec = net(clean + 0.2 * torch.randn_like(clean))
            loss = F.cross_entropy(logits, ya[idx]) + 3 * F.mse_loss(rec, clean)
            opt.zero_grad(set_to_none=True)
            (loss * SCALE).backward()
            for p in net.parameters():
                p.grad.div_(SCALE)
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            sched.step()
            tot += loss.item()
        if ep % 4 == 0 or ep == epochs - 1:
            print(f"epoch {ep:2d} loss {tot / (len(xa) // bs):.3f}")
    net.eval()
    with torch.no_grad():
        noisy = xb + 0.2 * torch.randn_like(xb)
        logits, _ = net(xb)
        _, rec = net(noisy)
    lin = LogisticRegression(max_iter=1000, C=0.1).fit(xa.flatten(1), ya).score(xb.flatten(1), yb)
    print(f"test accuracy {(logits.argmax(1) == yb).float().mean():.3f} (majority 0.10, linear {lin:.3f}); "
          f"denoised mse {F.mse_loss(rec, xb):.4f} (left as it is {F.mse_loss(noisy, xb):.4f})")


if __name__ == "__main__":
    main()
