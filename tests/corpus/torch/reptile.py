"""Reptile on sine waves: the meta weights are moved by hand towards the adapted copies."""
import argparse
import copy
import math
from typing import Callable, Tuple

import torch
from torch import Tensor, nn

Task = Callable[[Tensor], Tensor]


def draw_task() -> Task:
    amp = 0.5 + 2.0 * torch.rand(1)
    phase = math.pi * torch.rand(1)
    return lambda x: amp * torch.sin(x + phase)


def draw_points(task: Task, n: int) -> Tuple[Tensor, Tensor]:
    x = torch.rand(n, 1) * 10 - 5
    return x, task(x)


def adapt(model: nn.Module, x: Tensor, y: Tensor, steps: int, lr: float, batch: int) -> nn.Module:
    learner = copy.deepcopy(model)
    inner = torch.optim.SGD(learner.parameters(), lr=lr)
    for _ in range(steps):
        idx = torch.randint(0, len(x), (batch,))
        loss = nn.functional.mse_loss(learner(x[idx]), y[idx])
        inner.zero_grad()
        loss.backward()
        inner.step()
    return learner


@torch.no_grad()
def pull(model: nn.Module, learner: nn.Module, rate: float) -> None:
    for p, q in zip(model.parameters(), learner.parameters()):
        p.add_(q - p, alpha=rate)


def assess(model: nn.Module, n_tasks: int, args) -> Tuple[float, float]:
    before, after = 0.0, 0.0
    for _ in range(n_tasks):
        task = draw_task()
        xs, ys = draw_points(task, 10)
        xq, yq = draw_points(task, 100)
        learner = adapt(model, xs, ys, 32, args.inner_lr, 10)
        with torch.no_grad():
            before += nn.functional.mse_loss(model(xq), yq).item()
            after += nn.functional.mse_loss(learner(xq), yq).item()
    return before / n_tasks, after / n_tasks


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=4000)
    ap.add_argument("--inner-lr", type=float, default=0.02)
    ap.add_argument("--meta-lr", type=float, default=0.3)
    ap.add_argument("--inner-steps", type=int, default=8)
    args = ap.parse_args()

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    print("start: query mse before %.3f, after %.3f adaptation" % assess(model, 100, args))
    for it in range(1, args.iterations + 1):
        x, y = draw_points(draw_task(), 50)
        learner = adapt(model, x, y, args.inner_steps, args.inner_lr, 10)
        pull(model, learner, args.meta_lr * (1 - it / args.iterations) + 0.01)
        if it % 1000 == 0:
            print("iteration %d:" % it, "query mse before %.3f, after %.3f adaptation" % assess(model, 100, args))


if __name__ == "__main__":
    main()
