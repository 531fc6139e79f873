# MAML on sine waves (Finn et al. 2017), with torch.func.functional_call
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(4)


class SineTask:
    def __init__(self):
        self.amplitude = torch.empty(1).uniform_(0.5, 3.0)
        self.phase = torch.empty(1).uniform_(0, math.pi)

    def sample(self, k):
        x = torch.empty(k, 1).uniform_(-4, 4)
        return x, self.amplitude * torch.sin(x + self.phase)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))

    def forward(self, x):
        return self.net(x)


def adapt(model, params, x, y, steps, rate, create_graph):
    """A few gradient steps on one task, gives new parameters and leaves the model alone."""
    for _ in range(steps):
        loss = F.mse_loss(functional_call(model, params, (x,)), y)
        grads = torch.autograd.grad(loss, list(params.values()), create_graph=create_graph)
        params = {name: p - rate * g for (name, p), g in zip(params.items(), grads)}
    return params


def meta_test(model, n_tasks=40, k=10):
    before = after = 0.0
    for _ in range(n_tasks):
        task = SineTask()
        x, y = task.sample(k)
        xq, yq = task.sample(100)
        start = dict(model.named_parameters())
        tuned = adapt(model, start, x, y, steps=5, rate=0.05, create_graph=False)
        with torch.no_grad():
            before += F.mse_loss(functional_call(model, start, (xq,)), yq).item() / n_tasks
            after += F.mse_loss(functional_call(model, tuned, (xq,)), yq).item() / n_tasks
    return before, after


model = Regressor()
meta_opt = torch.optim.Adam(model.parameters(), lr=2e-3)
TASKS_PER_STEP = 6

for it in range(1, 1001):
    meta_loss = 0.0
    for _ in range(TASKS_PER_STEP):
        task = SineTask()
        xs, ys = task.sample(10)
        xq, yq = task.sample(10)
        fast = adapt(model, dict(model.named_parameters()), xs, ys, steps=1, rate=0.05, create_graph=True)
        meta_loss = meta_loss + F.mse_loss(functional_call(model, fast, (xq,)), yq)
    meta_loss = meta_loss / TASKS_PER_STEP

    meta_opt.zero_grad()
    meta_loss.backward()
    meta_opt.step()

    if it % 200 == 0:
        before, after = meta_test(model)
        print(f"iteration {it}: meta loss {meta_loss.item():.3f} | new tasks: before {before:.2f}, after 5 steps {after:.2f}")
