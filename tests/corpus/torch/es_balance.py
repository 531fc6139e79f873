"""Evolution strategies (Salimans et al. 2017) on a vectorised pole-balancing task.

Antithetic perturbations, centred ranks; the estimate is written to `.grad`, Adam does the update.
"""
import math

import torch
import torch.nn as nn
from torch.func import functional_call, vmap
from torch.nn.utils import parameters_to_vector, vector_to_parameters

HORIZON = 200
POP = 64
SIGMA = 0.1
ITERS = 40


def dynamics(state, force):
    x, v, th, w = state.unbind(-1)
    sin, cos = th.sin(), th.cos()
    temp = (force + 0.05 * w ** 2 * sin) / 1.1
    acc_th = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
    acc = temp - 0.05 * acc_th * cos / 1.1
    return torch.stack([x + 0.02 * v, v + 0.02 * acc, th + 0.02 * w, w + 0.02 * acc_th], -1)


class Policy(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, s):
        return 10 * torch.tanh(self.net(s))


def unflatten(vec, template):
    out, k = {}, 0
    for name, p in template.items():
        out[name] = vec[..., k:k + p.numel()].reshape(*vec.shape[:-1], *p.shape)
        k += p.numel()
    return out


def rollout(policy, template, thetas, episodes=4):
    """Mean number of steps that the pole stays up, for each row of thetas."""
    m = thetas.shape[0]
    params = unflatten(thetas, template)
    act = vmap(lambda p, s: functional_call(policy, p, (s,)))
    state = (torch.rand(1, episodes, 4) - 0.5).mul(0.2).repeat(m, 1, 1)
    alive = torch.ones(m, episodes, dtype=torch.bool)
    total = torch.zeros(m, episodes)
    for _ in range(HORIZON):
        state = dynamics(state, act(params, state).squeeze(-1))
        alive &= (state[..., 0].abs() < 2.4) & (state[..., 2].abs() < 12 * math.pi / 180)
        state = torch.where(alive[..., None], state, torch.zeros_like(state))
        total += alive
    return total.mean(1)


def centred_ranks(r):
    ranks = torch.empty_like(r)
    ranks[r.argsort()] = torch.arange(len(r), dtype=r.dtype)
    return ranks / (len(r) - 1) - 0.5


@torch.no_grad()
def main():
    torch.manual_seed(5)
    policy = Policy()
    template = {k: v.detach() for k, v in policy.named_parameters()}
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
    for p in policy.parameters():
        p.grad = torch.zeros_like(p)

    for it in range(ITERS):
        theta = parameters_to_vector(policy.parameters())
        noise = torch.randn(POP // 2, theta.numel())
        noise = torch.cat([noise, -noise])
        returns = rollout(policy, template, theta + SIGMA * noise)
        grad = -(centred_ranks(returns) @ noise) / (POP * SIGMA)
        k = 0
        for p in policy.parameters():
            p.grad.copy_(grad[k:k + p.numel()].view_as(p))
            k += p.numel()
        optimizer.step()
        if it % 5 == 4 or it == 0:
            mean = rollout(policy, template, parameters_to_vector(policy.parameters())[None], 32).item()
            print(f"iteration {it + 1:3d}  population {returns.mean():6.1f}  policy {mean:6.1f} of {HORIZON}")


if __name__ == "__main__":
    main()
