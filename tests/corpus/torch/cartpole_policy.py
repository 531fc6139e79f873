"""REINFORCE with a running baseline on a vectorised cart-pole (own simulator)."""
import math

import torch
import torch.nn as nn

torch.manual_seed(2)
N_ENVS, HORIZON, GAMMA = 48, 200, 0.98


class CartPoles:
    def __init__(self, n):
        self.n = n

    def reset(self):
        self.s = (torch.rand(self.n, 4) - 0.5) * 0.1
        return self.s

    def step(self, a):
        x, xd, th, thd = self.s.unbind(1)
        force = torch.where(a == 1, 10.0, -10.0)
        cos, sin = th.cos(), th.sin()
        tmp = (force + 0.05 * thd ** 2 * sin) / 1.1
        tha = (9.8 * sin - cos * tmp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
        xa = tmp - 0.05 * tha * cos / 1.1
        self.s = torch.stack([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1)
        dead = (self.s[:, 0].abs() > 2.4) | (self.s[:, 2].abs() > 12 * math.pi / 180)
        return self.s, dead


policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
with torch.no_grad():
    policy[-1].weight.mul_(0.01)       # start close to the uniform policy
SCALE = torch.tensor([1.0, 1.0, 8.0, 1.0])
opt = torch.optim.Adam(policy.parameters(), lr=1e-2, betas=(0.9, 0.99))
envs = CartPoles(N_ENVS)


def play(greedy=False, keep=True):
    s = envs.reset()
    alive = torch.ones(N_ENVS)
    logps, ents, mask = [], [], []
    for _ in range(HORIZON):
        with torch.set_grad_enabled(keep):
            logits = policy(s * SCALE)
            dist = torch.distributions.Categorical(logits=logits)
            a = logits.argmax(1) if greedy else dist.sample()
            logps.append(dist.log_prob(a))
            ents.append(dist.entropy())
        mask.append(alive)
        s, dead = envs.step(a)
        alive = alive * (~dead).float()
        if alive.sum() == 0:
            break
    return torch.stack(logps), torch.stack(ents), torch.stack(mask)


_, _, m = play(keep=False)
print(f"random policy: mean length {m.sum(0).mean():.1f}")

for it in range(40):
    logp, ent, mask = play()
    T = mask.size(0)
    ret = torch.zeros_like(mask)
    acc = torch.zeros(N_ENVS)
    for t in reversed(range(T)):
        acc = mask[t] * (1.0 + GAMMA * acc)
        ret[t] = acc
    # advantage: against the mean return of the poles that still stand at the same step
    base = (ret * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
    adv = (ret - base) * mask
    adv = adv / (adv.pow(2).sum() / mask.sum()).sqrt().clamp(min=1e-3)
    loss = -(logp * adv).sum() / mask.sum() - 0.003 * (ent * mask).sum() / mask.sum()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
    opt.step()
    for g in opt.param_groups:
        g["lr"] = 1e-2 * (1 - it / 40)
    if it % 5 == 0:
        print(f"iter {it:3d}  loss {loss.item():+.4f}  mean length {mask.sum(0).mean():6.1f}  "
              f"entropy {(ent * mask).sum().item() / mask.sum().item():.3f}")

lengths = torch.cat([play(greedy=True, keep=False)[2].sum(0) for _ in range(3)])
print(f"greedy policy: mean length {lengths.mean():.1f} of {HORIZON}, worst {lengths.min():.0f}")
