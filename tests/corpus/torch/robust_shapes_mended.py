"""Adversarial (FGSM) training of a shape classifier; clean loss is monitored next to the robust one."""
import resource

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

# shared machine: each job may use 2 GB
LIMIT = 2 * 1024 ** 3
resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
SHAPES = ["disc", "ring", "square", "cross"]


def draw(n, seed, size=28):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size]
    y = rng.integers(0, len(SHAPES), n)
    X = np.empty((n, 1, size, size), "float32")
    for i, k in enumerate(y):
        cx, cy = rng.uniform(10, 18, 2)
        r = rng.uniform(5, 9)
        dx, dy = np.abs(xx - cx), np.abs(yy - cy)
        d = np.hypot(dx, dy)
        pic = [d < r, np.abs(d - r) < 1.5, np.maximum(dx, dy) < r,
               (np.minimum(dx, dy) < 1.5) & (np.maximum(dx, dy) < r)][k]
        X[i, 0] = 0.8 * pic
    X += rng.normal(0, 0.2, X.shape)
    return torch.from_numpy(X), torch.from_numpy(y)


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 49, 64), nn.ReLU(), nn.Linear(64, len(SHAPES)))


def fgsm(net, x, y, eps):
    x = x.clone().requires_grad_(True)
    grad, = torch.autograd.grad(F.cross_entropy(net(x), y), x)
    return (x + eps * grad.sign()).detach()


def accuracy(net, X, y, eps=0.0):
    hits = 0
    for i in range(0, len(X), 200):
        xb, yb = X[i:i + 200], y[i:i + 200]
        if eps > 0:
            xb = fgsm(net, xb, yb, eps)
        with torch.no_grad():
            hits += (net(xb).argmax(1) == yb).sum().item()
    return hits / len(X)


def main():
    torch.manual_seed(2)
    eps, bs, epochs = 0.06, 64, 5
    X, y = draw(2560, 0)
    X_test, y_test = draw(600, 1)
    net = make_net()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    clean_sum, robust_sum, steps = 0.0, 0.0, 0
    for epoch in range(epochs):
        for idx in torch.randperm(len(X)).split(bs):
            xb, yb = X[idx], y[idx]
            clean_loss = F.cross_entropy(net(xb), yb)
            robust_loss = F.cross_entropy(net(fgsm(net, xb, yb, eps)), yb)
            opt.zero_grad()
            robust_loss.backward()
            opt.step()
            clean_sum += clean_loss.item()
            robust_sum += robust_loss.item()
            steps += 1
            if steps % 20 == 0:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(f"step {steps:4d}  clean {clean_sum / steps:.4f}  robust {robust_sum / steps:.4f}"
                      f"  peak rss {peak:.0f} MB")
        print(f"== epoch {epoch + 1}: clean acc {accuracy(net, X_test, y_test):.3f}  "
              f"robust acc {accuracy(net, X_test, y_test, eps):.3f}")
    print(f"final clean acc {accuracy(net, X_test, y_test):.3f}, robust acc "
          f"{accuracy(net, X_test, y_test, eps):.3f} (chance 0.250)")


if __name__ == "__main__":
    main()
