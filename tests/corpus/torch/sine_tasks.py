"""Reptile on sine regression: the outer step is a plain pull of the weights, no outer optimiser."""
import argparse
import copy

import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--meta-steps", type=int, default=1600)
parser.add_argument("--inner-steps", type=int, default=8)
parser.add_argument("--inner-lr", type=float, default=0.02)
parser.add_argument("--shots", type=int, default=10)
parser.add_argument("--outer", type=float, default=1.0, help="initial outer step, annealed to zero")
parser.add_argument("--seed", type=int, default=71)


class SineTask:
    def __init__(self, rng):
        self.amp, self.phase = rng.uniform(0.5, 3.0), rng.uniform(0, np.pi)

    def __call__(self, x):
        return self.amp * torch.sin(x + self.phase)


def draw_x(n, rng):
    return torch.tensor(rng.uniform(-5, 5, (n, 1)), dtype=torch.float32)


def make_net():
    return nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))


def adapt(net, x, y, steps, lr, batch=None, rng=None):
    """Plain SGD written out by hand; changes net in place."""
    params = list(net.parameters())
    for _ in range(steps):
        if batch is None:
            bx, by = x, y
        else:
            i = torch.from_numpy(rng.choice(len(x), batch, replace=False))
            bx, by = x[i], y[i]
        loss = (net(bx) - by).square().mean()
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            for p, g in zip(params, grads):
                p -= lr * g
    return loss.item()


def evaluate(net, shots, steps, lr, n_tasks=100, seed=12345):
    """Adapt to `shots` points of unseen tasks; error on a dense grid before and after."""
    rng = np.random.default_rng(seed)
    grid = torch.linspace(-5, 5, 100)[:, None]
    before, after = [], []
    for _ in range(n_tasks):
        task = SineTask(rng)
        x = draw_x(shots, rng)
        clone = copy.deepcopy(net)
        with torch.no_grad():
            before.append((clone(grid) - task(grid)).square().mean().item())
        adapt(clone, x, task(x), steps, lr)
        with torch.no_grad():
            after.append((clone(grid) - task(grid)).square().mean().item())
    return float(np.mean(before)), float(np.mean(after))


def main():
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)
    meta = make_net()
    fresh = copy.deepcopy(meta)
    worker = make_net()
    smooth = None
    for step in range(args.meta_steps):
        task = SineTask(rng)
        x = draw_x(40, rng)
        worker.load_state_dict(meta.state_dict())
        last = adapt(worker, x, task(x), args.inner_steps, args.inner_lr, batch=10, rng=rng)
        eps = args.outer * (1 - step / args.meta_steps)
        with torch.no_grad():
            for pm, pw in zip(meta.parameters(), worker.parameters()):
                pm.lerp_(pw, eps)
        smooth = last if smooth is None else 0.98 * smooth + 0.02 * last
        if (step + 1) % 400 == 0:
            print(f"meta step {step + 1:5d}  outer {eps:.2f}  inner loss {smooth:.3f}")

    for steps in (8, 32):
        b, a = evaluate(meta, args.shots, steps, args.inner_lr)
        _, f = evaluate(fresh, args.shots, steps, args.inner_lr)
        print(f"unseen tasks, {args.shots} shots, {steps:2d} steps: mse before {b:.3f}  after {a:.3f}  "
              f"(from scratch {f:.3f})")


if __name__ == "__main__":
    main()
