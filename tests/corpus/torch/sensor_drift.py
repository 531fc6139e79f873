"""Domain adaptation for a gas sensor array: labelled readings from last year, unlabelled readings from
this year (drifted). Domain-adversarial training with a gradient reversal layer (Ganin et al.)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.strength * g, None


def readings(n, rng, drifted):
    """16 channels: 8 respond to the gas, 8 follow ambient conditions. Last year the ambient
    conditions happened to go along with the gas (different seasons), this year they do not."""
    y = rng.integers(0, 4, n)
    centers = np.random.default_rng(100).normal(0, 0.8, (4, 8))
    ambient = np.random.default_rng(101).normal(0, 1.3, (4, 8))
    gas = centers[y] + 0.75 * rng.standard_normal((n, 8))
    season = rng.integers(0, 4, n) if drifted else np.where(rng.random(n) < 0.95, y, rng.integers(0, 4, n))
    amb = ambient[season] + 0.5 * rng.standard_normal((n, 8)) + (1.5 if drifted else 0.0)
    x = np.concatenate([gas, amb], 1).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


class Net(nn.Module):
    def __init__(self, d=16, h=64, k=4):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, 32), nn.ReLU())
        self.gas = nn.Linear(32, k)
        self.domain = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x, strength):
        f = self.features(x)
        return self.gas(f), self.domain(Reverse.apply(f, strength)).squeeze(1)


def fit(src, tgt_x, steps, max_strength, lr, seed):
    torch.manual_seed(seed)
    xs, ys = src
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=lr, betas=(0.5, 0.999), weight_decay=1e-4)
    for step in range(steps):
        p = step / steps
        strength = max_strength * (2 / (1 + np.exp(-10 * p)) - 1)
        i = torch.randint(0, len(xs), (64,))
        j = torch.randint(0, len(tgt_x), (64,))
        logits, dom = net(torch.cat([xs[i], tgt_x[j]]), strength)
        is_target = torch.cat([torch.zeros(64), torch.ones(64)])
        class_loss = F.cross_entropy(logits[:64], ys[i])
        domain_loss = F.binary_cross_entropy_with_logits(dom, is_target)
        loss = class_loss + domain_loss
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if max_strength and (step + 1) % 400 == 0:
            print(f"  step {step + 1:4d} class {class_loss.item():.3f} domain {domain_loss.item():.3f} "
                  f"strength {strength:.2f}")
    return net


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    return (net(x, 0.0)[0].argmax(1) == y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=2000)
    ap.add_argument("--strength", type=float, default=1.0)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()

    rng = np.random.default_rng(0)
    xs, ys = readings(3000, rng, drifted=False)
    xt, _ = readings(3000, rng, drifted=True)          # labels of this year are not available
    x_test, y_test = readings(2000, rng, drifted=True)
    mean, std = xs.mean(0), xs.std(0)
    xs, xt, x_test = [(v - mean) / std for v in (xs, xt, x_test)]

    print("source only")
    plain = fit((xs, ys), xt, args.steps, 0.0, args.lr, seed=1)
    print("adversarial")
    adapted = fit((xs, ys), xt, args.steps, args.strength, args.lr, seed=1)
    majority = torch.bincount(y_test).max().item() / len(y_test)
    print(f"this year's test set: majority {majority:.3f}, source only {accuracy(plain, x_test, y_test):.3f}, "
          f"adapted {accuracy(adapted, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
