import argparse
import math

import torch
from torch import nn
from torch.func import functional_call

ap = argparse.ArgumentParser()
ap.add_argument("--meta-steps", type=int, default=1200)
ap.add_argument("--tasks", type=int, default=8)
ap.add_argument("--shots", type=int, default=10)
ap.add_argument("--inner-steps", type=int, default=2)
args = ap.parse_args()
torch.manual_seed(11)


def harbour(n):
    """One harbour = one amplitude and phase. Returns support and query readings of the tide."""
    amp = torch.empty(1).uniform_(0.5, 3.0)
    phase = torch.empty(1).uniform_(0, math.pi)
    x = torch.empty(2 * n, 1).uniform_(-4, 4)
    y = amp * torch.sin(x + phase)
    return (x[:n], y[:n]), (x[n:], y[n:])


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x)


net = Net()
names = [n for n, _ in net.named_parameters()]
# a learned inner rate for every tensor, kept positive through exp
log_rate = nn.ParameterDict({n.replace(".", "_"): nn.Parameter(torch.tensor(math.log(0.03))) for n in names})
outer = torch.optim.Adam([
    {"params": net.parameters(), "lr": 2e-3},
    {"params": log_rate.parameters(), "lr": 5e-3},
])
sched = torch.optim.lr_scheduler.CosineAnnealingLR(outer, args.meta_steps, eta_min=1e-4)


def adapt(fast, x, y, steps, second_order=True):
    for _ in range(steps):
        loss = nn.functional.mse_loss(functional_call(net, fast, (x,)), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=second_order)
        fast = {n: w - log_rate[n.replace(".", "_")].exp() * g for (n, w), g in zip(fast.items(), grads)}
    return fast


def assess(n_tasks=100):
    gen = torch.random.get_rng_state()
    torch.manual_seed(999)
    before = after = 0.0
    for _ in range(n_tasks):
        (xs, ys), (xq, yq) = harbour(args.shots)
        start = {n: p.detach().clone().requires_grad_() for n, p in net.named_parameters()}
        fast = adapt(start, xs, ys, 5, second_order=False)
        with torch.no_grad():
            before += nn.functional.mse_loss(net(xq), yq).item()
            after += nn.functional.mse_loss(functional_call(net, fast, (xq,)), yq).item()
    torch.random.set_rng_state(gen)
    return before / n_tasks, after / n_tasks


for it in range(args.meta_steps):
    outer.zero_grad()
    shown = 0.0
    for _ in range(args.tasks):
        (xs, ys), (xq, yq) = harbour(args.shots)
        fast = adapt(dict(net.named_parameters()), xs, ys, args.inner_steps)
        loss = nn.functional.mse_loss(functional_call(net, fast, (xq,)), yq) / args.tasks
        loss.backward()
        shown += loss.item()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    outer.step()
    sched.step()
    if it % 200 == 0 or it == args.meta_steps - 1:
        b, a = assess()
        print(f"{it:5d} query {shown:.3f} | unseen harbours: unadapted {b:.3f}, after 5 steps {a:.3f}")
