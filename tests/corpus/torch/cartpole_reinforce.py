"""REINFORCE with a learned baseline on a hand-written cart-pole, many poles simulated at once."""
import math

import torch
from torch import nn
from torch.distributions import Categorical


class Poles:
    """Batch of independent cart-poles (Barto, Sutton and Anderson), at most 200 steps."""

    def __init__(self, n, gen):
        self.n, self.gen = n, gen

    def reset(self):
        self.s = torch.empty(self.n, 4).uniform_(-0.05, 0.05, generator=self.gen)
        return self.s.clone()

    def step(self, a):
        x, xd, th, thd = self.s.unbind(1)
        force = torch.where(a == 1, 10.0, -10.0)
        tmp = (force + 0.05 * thd**2 * th.sin()) / 1.1
        tha = (9.8 * th.sin() - th.cos() * tmp) / (0.5 * (4 / 3 - 0.1 * th.cos() ** 2 / 1.1))
        xa = tmp - 0.05 * tha * th.cos() / 1.1
        self.s = torch.stack([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1)
        fell = (self.s[:, 0].abs() > 2.4) | (self.s[:, 2].abs() > 12 * math.pi / 180)
        return self.s.clone(), fell


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.v = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, s):
        s = s * torch.tensor([1.0, 1.0, 5.0, 1.0])
        return Categorical(logits=self.pi(s)), self.v(s).squeeze(-1)


def rollout(net, env, horizon=200, greedy=False):
    s, alive = env.reset(), torch.ones(env.n, dtype=torch.bool)
    logp, value, ent, mask = [], [], [], []
    for _ in range(horizon):
        dist, v = net(s)
        a = dist.probs.argmax(1) if greedy else dist.sample()
        logp.append(dist.log_prob(a)), value.append(v), ent.append(dist.entropy())
        mask.append(alive.float())
        s, fell = env.step(a)
        alive = alive & ~fell
        if not alive.any():
            break
    return map(torch.stack, (logp, value, ent, mask))


def returns_to_go(mask, gamma=0.98):
    out, g = torch.zeros_like(mask), torch.zeros(mask.shape[1])
    for t in reversed(range(len(mask))):
        g = mask[t] + gamma * g
        out[t] = g
    return out


@torch.no_grad()
def test_length(net, seed):
    env = Poles(200, torch.Generator().manual_seed(seed))
    *_, mask = rollout(net, env, greedy=True)
    return mask.sum(0).mean().item()


def main(iterations=90, n_env=24):
    torch.manual_seed(6)
    env = Poles(n_env, torch.Generator().manual_seed(6))
    net = ActorCritic()
    opt = torch.optim.Adam(net.parameters(), lr=1.2e-2)
    print(f"before training: {test_length(net, 1000):.1f} steps")
    for it in range(1, iterations + 1):
        logp, value, ent, mask = rollout(net, env)
        ret = returns_to_go(mask)
        adv = (ret - value).detach()
        kept = adv[mask > 0]
        adv = (adv - kept.mean()) / (kept.std() + 1e-6)
        policy = -(logp * adv * mask).sum() / mask.sum()
        critic = ((value - ret).pow(2) * mask).sum() / mask.sum()
        loss = policy + 0.02 * critic - 0.01 * (ent * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        if it % 15 == 0:
            print(f"iter {it:3d}  loss {loss.item():+.4f}  mean length {mask.sum(0).mean().item():6.1f}")

    class Coin(nn.Module):
        def forward(self, s):
            return Categorical(logits=torch.rand(len(s), 2)), torch.zeros(len(s))

    print(f"unseen starts: {test_length(net, 2000):.1f} of 200 steps, random policy {test_length(Coin(), 2000):.1f}")


if __name__ == "__main__":
    main()
