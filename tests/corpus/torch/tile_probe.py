"""Pre-train an encoder by denoising, then fit only a linear probe on few labels."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


def tiles(n, seed):
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:16, 0:16] / 16.0
    kind = g.integers(0, 4, n)
    img = np.empty((n, 1, 16, 16), np.float32)
    for i, k in enumerate(kind):
        ph, f = g.uniform(0, 2 * np.pi), g.uniform(2, 3)
        arg = {0: xx, 1: yy, 2: (xx + yy) / 1.4, 3: (xx - yy) / 1.4}[int(k)]
        img[i, 0] = np.sin(2 * np.pi * f * arg + ph)
    img += g.normal(0, 0.3, img.shape).astype(np.float32)
    return torch.from_numpy(img), torch.from_numpy(kind)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        )

    def forward(self, x):
        return self.net(x)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1),
        )

    def forward(self, z):
        return self.net(z)


def pretrain(encoder, images, epochs=12):
    decoder = Decoder()
    opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
    for epoch in range(epochs):
        encoder.train()
        tot = 0.0
        parts = torch.randperm(len(images)).split(64)
        for idx in parts:
            x = images[idx]
            loss = F.mse_loss(decoder(encoder(x + 0.3 * torch.randn_like(x))), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        if epoch % 3 == 2:
            print(f"denoise epoch {epoch + 1} mse {tot / len(parts):.4f}")


def features(encoder, x):
    return encoder(x).pow(2).mean((2, 3)).sqrt()


def probe(encoder, x, y, xv, yv, steps=300):
    encoder.requires_grad_(False)
    encoder.eval()
    with torch.no_grad():
        f, fv = features(encoder, x), features(encoder, xv)
    mean, std = f.mean(0), f.std(0) + 1e-5
    f, fv = (f - mean) / std, (fv - mean) / std
    head = nn.Linear(f.shape[1], 4)
    opt = torch.optim.LBFGS(head.parameters(), lr=0.5, max_iter=20)

    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(head(f), y) + 1e-2 * head.weight.pow(2).sum()
        loss.backward()
        return loss

    for step in range(steps // 20):
        loss = opt.step(closure)
        if step % 5 == 0:
            acc = (head(fv).argmax(1) == yv).float().mean()
            print(f"probe step {step * 20} loss {loss.item():.4f} held-out acc {acc:.4f}")
    return (head(fv).argmax(1) == yv).float().mean().item()


torch.manual_seed(12)
pool, _ = tiles(8000, 0)
few, few_y = tiles(240, 1)
test, test_y = tiles(1000, 2)
enc = Encoder()
pretrain(enc, pool)
frozen = [p.clone() for p in enc.parameters()]
acc = probe(enc, few, few_y, test, test_y)
assert all(torch.equal(a, b) for a, b in zip(frozen, enc.parameters()))
print(f"240 labels, linear probe: accuracy {acc:.3f}")
