"""Pump condition from vibration spectra. The target board only holds bfloat16
tensors, so the network lives in bfloat16 from the first step to the last.

Plain SGD with a big rate: an update has to be at least ~1/256 of a weight to
survive the rounding, which is why there is no Adam with 1e-4 here.
"""
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES = ["healthy", "imbalance", "misaligned", "bearing", "cavitation"]


def make_signal(rng, label, n=256):
    t = np.arange(n) / 512.0
    f0 = rng.uniform(22, 30)
    x = np.sin(2 * np.pi * f0 * t + rng.uniform(0, 6.28))
    if label == 1:
        x = x * rng.uniform(1.6, 2.6)
    elif label == 2:
        x = x + rng.uniform(0.6, 1.2) * np.sin(4 * np.pi * f0 * t + rng.uniform(0, 6.28))
    elif label == 3:
        k = rng.uniform(4.5, 5.5) * f0
        x = x + rng.uniform(0.4, 0.9) * np.sin(2 * np.pi * k * t) * (1 + np.sin(2 * np.pi * f0 * t))
    elif label == 4:
        x = x + rng.normal(0, 0.7, n)
    return x + rng.normal(0, 0.6, n)


def make_set(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CLASSES), n)
    x = np.stack([make_signal(rng, c) for c in y])
    spec = np.log1p(np.abs(np.fft.rfft(x * np.hanning(x.shape[1]), axis=1)))[:, :96]
    return spec.astype(np.float32), y


def net():
    return nn.Sequential(nn.Linear(96, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
                         nn.Linear(64, len(CLASSES)))


def fit(dtype, x, y, epochs, lr, bs):
    torch.manual_seed(3)
    model = net().to(dtype)
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.8)
    gen = torch.Generator().manual_seed(11)
    moved = []
    for ep in range(epochs):
        order = torch.randperm(len(x), generator=gen)
        total = 0.0
        for step in range(0, len(x), bs):
            idx = order[step:step + bs]
            # the logits are lifted to float32 for the softmax only
            loss = F.cross_entropy(model(x[idx].to(dtype)).float(), y[idx])
            opt.zero_grad()
            loss.backward()
            before = model[0].weight.detach().clone() if step == 0 else None
            opt.step()
            if before is not None:
                moved.append((model[0].weight != before).float().mean().item())
            total += loss.item() * len(idx)
        if ep % 2 == 0 or ep == epochs - 1:
            print(f"{str(dtype):15s} epoch {ep:2d} loss {total / len(x):.4f} "
                  f"weights moved by the first step {moved[-1]:.2f}")
    return model


@torch.no_grad()
def accuracy(model, x, y):
    dtype = next(model.parameters()).dtype
    return (model(x.to(dtype)).float().argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=0.08)
    ap.add_argument("--batch", type=int, default=32)
    a = ap.parse_args()
    xtr, ytr = make_set(0, 2500)
    xte, yte = make_set(1, 1000)
    mu, sd = xtr.mean(0), xtr.std(0)
    xtr, xte = torch.tensor((xtr - mu) / sd), torch.tensor((xte - mu) / sd)
    ytr, yte = torch.tensor(ytr), torch.tensor(yte)

    board = fit(torch.bfloat16, xtr, ytr, a.epochs, a.lr, a.batch)
    twin = fit(torch.float32, xtr, ytr, a.epochs, a.lr, a.batch)
    base = max(np.bincount(yte.numpy())) / len(yte)
    print(f"test accuracy bfloat16 {accuracy(board, xte, yte):.3f}  "
          f"float32 {accuracy(twin, xte, yte):.3f}  majority {base:.3f}")
