"""Train an ant that walks to a crumb, with evolution strategies (antithetic sampling)."""
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.func import functional_call, vmap

torch.manual_seed(0)
STEPS, PAIRS, SIGMA = 20, 32, 0.08

policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2), nn.Tanh())
shapes = [(k, p.shape, p.numel()) for k, p in policy.named_parameters()]


def unflatten(flat):
    out, i = {}, 0
    for name, shape, n in shapes:
        out[name] = flat[i:i + n].view(shape)
        i += n
    return out


def episode_return(flat, ant, crumb):
    params, speed, total = unflatten(flat), torch.zeros_like(ant), 0.0
    for _ in range(STEPS):
        push = functional_call(policy, params, torch.cat([crumb - ant, speed], dim=-1))
        speed = 0.7 * speed + 0.15 * push
        ant = ant + speed
        total = total - (crumb - ant).norm(dim=-1).mean()
    return total / STEPS


population_return = vmap(episode_return, in_dims=(0, None, None))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.03)

with torch.no_grad():
    for generation in range(1, 121):
        ant, crumb = torch.rand(16, 2) * 2 - 1, torch.rand(16, 2) * 2 - 1
        theta = parameters_to_vector(policy.parameters())
        noise = torch.randn(PAIRS, theta.numel())
        scores = population_return(torch.cat([theta + SIGMA * noise, theta - SIGMA * noise]), ant, crumb)
        plus, minus = scores.chunk(2)
        ascent = ((plus - minus)[:, None] * noise).mean(0) / (2 * SIGMA)
        for p, g in zip(policy.parameters(), unflatten(ascent).values()):
            p.grad = -g
        optimizer.step()
        if generation % 20 == 0 or generation == 1:
            gen = torch.Generator().manual_seed(99)
            a, c = (torch.rand(200, 2, generator=gen) * 2 - 1 for _ in range(2))
            now = episode_return(parameters_to_vector(policy.parameters()), a, c)
            print(f"generation {generation:3d}  test return {now.item():.3f}")
