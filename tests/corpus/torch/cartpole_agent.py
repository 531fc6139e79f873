"""REINFORCE with a mean baseline on a vectorised cart-pole (no gym needed)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class VecCartPole:
    """N cart-poles stepped together; a pole that fell stays 'done' until reset()."""

    gravity, m_cart, m_pole, length, force, tau = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def __init__(self, n, horizon, seed):
        self.n, self.horizon = n, horizon
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.s = self.rng.uniform(-0.05, 0.05, (self.n, 4))
        self.alive = np.ones(self.n, bool)
        self.t = 0
        return self.s.astype("float32")

    def step(self, action):
        x, v, th, w = self.s.T
        f = np.where(action == 1, self.force, -self.force)
        total = self.m_cart + self.m_pole
        tmp = (f + self.m_pole * self.length * w ** 2 * np.sin(th)) / total
        th_acc = (self.gravity * np.sin(th) - np.cos(th) * tmp) / (
            self.length * (4 / 3 - self.m_pole * np.cos(th) ** 2 / total))
        x_acc = tmp - self.m_pole * self.length * th_acc * np.cos(th) / total
        self.s = np.stack([x + self.tau * v, v + self.tau * x_acc,
                           th + self.tau * w, w + self.tau * th_acc], axis=1)
        reward = self.alive.astype("float32")
        fallen = (np.abs(self.s[:, 0]) > 2.4) | (np.abs(self.s[:, 2]) > 0.2095)
        self.alive &= ~fallen
        self.s[~self.alive] = 0.0
        self.t += 1
        return self.s.astype("float32"), reward, not self.alive.any() or self.t >= self.horizon


class Policy(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def forward(self, obs):
        return Categorical(logits=self.net(torch.as_tensor(obs)))


def rollout(env, choose):
    obs, rewards, logps = env.reset(), [], []
    done = False
    while not done:
        action, logp = choose(obs)
        obs, r, done = env.step(action)
        rewards.append(r)
        logps.append(logp)
    return np.stack(rewards), logps


def discounted(rewards, gamma):
    out, acc = np.zeros_like(rewards), np.zeros(rewards.shape[1], "float32")
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * acc
        out[t] = acc
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=60)
    ap.add_argument("--envs", type=int, default=16)
    ap.add_argument("--horizon", type=int, default=200)
    ap.add_argument("--gamma", type=float, default=0.98)
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("--hidden", type=int, default=32)
    a = ap.parse_args()
    torch.manual_seed(0)

    env = VecCartPole(a.envs, a.horizon, seed=0)
    policy = Policy(a.hidden)
    opt = torch.optim.Adam(policy.parameters(), lr=a.lr)

    def sample(obs):
        dist = policy(obs)
        act = dist.sample()
        return act.numpy(), dist.log_prob(act)

    for it in range(a.iters):
        rewards, logps = rollout(env, sample)
        returns = torch.from_numpy(discounted(rewards, a.gamma))
        mask = torch.from_numpy(rewards)
        steps = mask.sum()
        mean = (returns * mask).sum() / steps
        std = (((returns - mean) ** 2 * mask).sum() / steps).sqrt() + 1e-6
        adv = (returns - mean) / std

        loss = (torch.stack(logps) * adv * mask).sum() / steps
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        opt.step()
        if it % 5 == 0:
            print(f"iter {it:3d}  mean return {rewards.sum(0).mean():6.1f}  loss {loss.item():+.4f}")

    test_env = VecCartPole(64, a.horizon, seed=99)
    rng = np.random.default_rng(5)
    random_return = rollout(test_env, lambda o: (rng.integers(0, 2, 64), None))[0].sum(0).mean()
    with torch.no_grad():
        test_return = rollout(test_env, sample)[0].sum(0).mean()
    print(f"random policy return {random_return:.1f}")
    print(f"trained policy return {test_return:.1f}")


if __name__ == "__main__":
    main()
