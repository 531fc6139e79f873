"""MAML on sine regression: inner steps by hand, outer step with Adam, no module state touched in the inner loop."""
import argparse

import torch
import torch.nn as nn
from torch.func import functional_call, grad, vmap


class Curve(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x)


def sample_tasks(n, shots, gen):
    amp = torch.rand(n, 1, 1, generator=gen) * 3 + 0.5
    phase = torch.rand(n, 1, 1, generator=gen) * torch.pi
    x = torch.rand(n, 2 * shots, 1, generator=gen) * 10 - 5
    y = amp * torch.sin(x + phase)
    return x[:, :shots], y[:, :shots], x[:, shots:], y[:, shots:]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=800)
    p.add_argument("--tasks", type=int, default=25)
    p.add_argument("--shots", type=int, default=10)
    p.add_argument("--inner-lr", type=float, default=0.03)
    p.add_argument("--inner-steps", type=int, default=2)
    a = p.parse_args()

    torch.manual_seed(31)
    gen = torch.Generator().manual_seed(31)
    net = Curve()
    slow = {k: v for k, v in net.named_parameters()}
    rates = {k.replace(".", "_"): nn.Parameter(torch.full_like(v, a.inner_lr)) for k, v in slow.items()}
    opt = torch.optim.Adam([{"params": slow.values(), "lr": 2e-3}, {"params": rates.values(), "lr": 1e-4}])

    def mse(weights, x, y):
        return (functional_call(net, weights, (x,)) - y).pow(2).mean()

    def adapt(weights, x, y, steps):
        for _ in range(steps):
            g = grad(mse)(weights, x, y)
            weights = {k: w - rates[k.replace(".", "_")] * g[k] for k, w in weights.items()}
        return weights

    def query_loss(xs, ys, xq, yq, steps):
        return mse(adapt(slow, xs, ys, steps), xq, yq)

    batched = lambda tasks, steps: vmap(lambda *t: query_loss(*t, steps))(*tasks)
    trace = []
    for it in range(a.iters):
        losses = batched(sample_tasks(a.tasks, a.shots, gen), a.inner_steps)
        grads = torch.autograd.grad(losses.mean(), [*slow.values(), *rates.values()])
        for w, g in zip([*slow.values(), *rates.values()], grads):
            w.grad = g.clamp(-10, 10)
        opt.step()
        trace.append(losses.mean().item())
        if (it + 1) % 200 == 0:
            print(f"iter {it + 1:4d} query mse {sum(trace[-100:]) / 100:.3f}")

    test = sample_tasks(200, a.shots, gen)
    with torch.no_grad():
        for steps in (0, 1, 2, 5):
            print(f"test, {steps} inner steps: mse {batched(test, steps).mean().item():.3f}")


if __name__ == "__main__":
    main()
