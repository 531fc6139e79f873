"""Vectorised DQN on a numpy cart-pole (no gym on this box)."""
import argparse
import copy
import math
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class CartPoles:
    """n independent cart-poles; same physics constants as the classic task."""

    def __init__(self, n, rng, limit=200):
        self.n, self.rng, self.limit = n, rng, limit
        self.s = self._fresh(n)
        self.t = np.zeros(n, dtype=int)

    def _fresh(self, k):
        return self.rng.uniform(-0.05, 0.05, size=(k, 4)).astype(np.float32)

    def step(self, a):
        x, v, th, w = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        c, s = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * w ** 2 * s) / 1.1
        acc = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        xacc = tmp - 0.05 * acc * c / 1.1
        nxt = np.stack([x + 0.02 * v, v + 0.02 * xacc, th + 0.02 * w, w + 0.02 * acc], 1)
        nxt = nxt.astype(np.float32)
        self.t += 1
        fell = (np.abs(nxt[:, 0]) > 2.4) | (np.abs(nxt[:, 2]) > 12 * math.pi / 180)
        over = fell | (self.t >= self.limit)
        reward = np.ones(self.n, dtype=np.float32)
        self.s = nxt.copy()
        if over.any():
            self.s[over] = self._fresh(over.sum())
            self.t[over] = 0
        return nxt, reward, fell.astype(np.float32), over


class Replay:
    def __init__(self, size):
        self.size, self.ptr, self.full = size, 0, False
        self.s = torch.zeros(size, 4)
        self.a = torch.zeros(size, dtype=torch.long)
        self.r = torch.zeros(size)
        self.s2 = torch.zeros(size, 4)
        self.d = torch.zeros(size)

    def add(self, s, a, r, s2, d):
        k = len(a)
        idx = (self.ptr + torch.arange(k)) % self.size
        self.s[idx], self.s2[idx] = torch.from_numpy(s), torch.from_numpy(s2)
        self.a[idx], self.r[idx] = torch.from_numpy(a), torch.from_numpy(r)
        self.d[idx] = torch.from_numpy(d)
        self.full = self.full or self.ptr + k >= self.size
        self.ptr = (self.ptr + k) % self.size

    def sample(self, n):
        hi = self.size if self.full else self.ptr
        i = torch.randint(0, hi, (n,))
        return self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i]


def make_net():
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))


@torch.no_grad()
def evaluate(net, episodes=50, seed=999, policy=None):
    env = CartPoles(episodes, np.random.default_rng(seed))
    alive, total = np.ones(episodes, bool), np.zeros(episodes)
    for _ in range(200):
        a = policy(env) if policy else net(torch.from_numpy(env.s)).argmax(1).numpy()
        _, r, _, over = env.step(a)
        total += r * alive
        alive &= ~over
        if not alive.any():
            break
    return total.mean()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=3600)
    p.add_argument("--envs", type=int, default=8)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--lr", type=float, default=5e-4)
    p.add_argument("--gamma", type=float, default=0.98)
    p.add_argument("--sync", type=int, default=200)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    torch.manual_seed(args.seed), random.seed(args.seed)
    rng = np.random.default_rng(args.seed)

    env, memory = CartPoles(args.envs, rng), Replay(30000)
    q = make_net()
    target = copy.deepcopy(q)
    opt = torch.optim.Adam(q.parameters(), lr=args.lr)

    for step in range(1, args.updates + 1):
        eps = max(0.05, 1.0 - step / 1500)
        s = env.s.copy()
        with torch.no_grad():
            greedy = q(torch.from_numpy(s)).argmax(1).numpy()
        a = np.where(rng.random(args.envs) < eps, rng.integers(0, 2, args.envs), greedy)
        s2, r, fell, _ = env.step(a)
        memory.add(s, a, r, s2, fell)
        if step < 100:
            continue
        bs, ba, br, bs2, bd = memory.sample(args.batch)
        with torch.no_grad():
            y = br + args.gamma * (1 - bd) * target(bs2).max(1).values
        qa = q(bs).gather(1, ba[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(qa, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(q.parameters(), 10.0)
        opt.step()
        if step % args.sync == 0:
            target.load_state_dict(q.state_dict())
        if step % 600 == 0:
            print(f"{step:6d}  eps {eps:.2f}  td-loss {loss.item():.4f}  "
                  f"mean Q {qa.mean().item():7.2f}  return {evaluate(q):6.1f}")

    coin = evaluate(None, policy=lambda e: np.random.default_rng(int(e.t.sum())).integers(0, 2, e.n))
    print(f"greedy return on fresh starts: {evaluate(q, 100, 4242):.1f} (max 200), random policy: {coin:.1f}")


if __name__ == "__main__":
    main()
