"""DQN on a hand-written cart-pole (no gym on this machine)."""
import argparse
import copy
import math
import random

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


class CartPole:
    LIMIT = 200

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.s = self.rng.uniform(-0.05, 0.05, 4)
        self.t = 0
        return self.s.astype(np.float32)

    def step(self, action):
        x, xd, th, thd = self.s
        force = 10.0 if action == 1 else -10.0
        c, s = math.cos(th), math.sin(th)
        tmp = (force + 0.05 * thd ** 2 * s) / 1.1
        thacc = (9.8 * s - c * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * c ** 2 / 1.1))
        xacc = tmp - 0.05 * thacc * c / 1.1
        self.s = np.array([x + 0.02 * xd, xd + 0.02 * xacc, th + 0.02 * thd, thd + 0.02 * thacc])
        self.t += 1
        terminated = abs(self.s[0]) > 2.4 or abs(self.s[2]) > 12 * math.pi / 180
        truncated = self.t >= self.LIMIT
        return self.s.astype(np.float32), 1.0, bool(terminated), truncated


class Replay:
    def __init__(self, size):
        self.size, self.n, self.i = size, 0, 0
        self.s = np.zeros((size, 4), np.float32)
        self.s2 = np.zeros((size, 4), np.float32)
        self.a = np.zeros(size, np.int64)
        self.r = np.zeros(size, np.float32)
        self.d = np.zeros(size, np.float32)

    def push(self, s, a, r, s2, d):
        i = self.i
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.i = (i + 1) % self.size
        self.n = min(self.n + 1, self.size)

    def sample(self, k):
        j = np.random.randint(0, self.n, k)
        return [torch.from_numpy(v[j]) for v in (self.s, self.a, self.r, self.s2, self.d)]


def make_net():
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))


def td_update(q, q_target, opt, batch, gamma):
    s, a, r, s2, done = batch
    with torch.no_grad():
        best = q(s2).argmax(1, keepdim=True)          # double DQN
        nxt = q_target(s2).gather(1, best).squeeze(1)
        target = r + gamma * nxt
    pred = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
    loss = F.smooth_l1_loss(pred, target)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(q.parameters(), 10.0)
    opt.step()
    return loss.item(), pred.mean().item()


@torch.no_grad()
def play(q, episodes, seed):
    env, lengths = CartPole(seed), []
    for _ in range(episodes):
        s, over, n = env.reset(), False, 0
        while not over:
            s, _, term, trunc = env.step(int(q(torch.from_numpy(s)).argmax()))
            n += 1
            over = term or trunc
        lengths.append(n)
    return float(np.mean(lengths))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=10000)
    p.add_argument("--gamma", type=float, default=0.98)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--tau", type=float, default=0.01)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    q = make_net()
    q_target = copy.deepcopy(q)
    opt = torch.optim.Adam(q.parameters(), lr=args.lr)
    buf, env = Replay(10000), CartPole(args.seed)
    random_len = play(lambda s: torch.rand(2), 20, seed=99)

    s, ep_len, recent, loss, qmean = env.reset(), 0, [], 0.0, 0.0
    for t in range(1, args.steps + 1):
        eps = max(0.05, 1.0 - t / 4000)
        if random.random() < eps:
            a = random.randrange(2)
        else:
            with torch.no_grad():
                a = int(q(torch.from_numpy(s)).argmax())
        s2, r, term, trunc = env.step(a)
        buf.push(s, a, r, s2, float(term))
        s, ep_len = s2, ep_len + 1
        if term or trunc:
            recent.append(ep_len)
            s, ep_len = env.reset(), 0
        if t > 500:
            loss, qmean = td_update(q, q_target, opt, buf.sample(64), args.gamma)
            with torch.no_grad():
                for w, wt in zip(q.parameters(), q_target.parameters()):
                    wt.lerp_(w, args.tau)
        if t % 2000 == 0:
            print(f"step {t:6d} eps {eps:.2f} loss {loss:.4f} mean Q {qmean:.1f} "
                  f"train len {np.mean(recent[-15:]):.1f} greedy len {play(q, 5, seed=5):.1f}")
    print(f"random policy {random_len:.1f} steps, greedy policy over 20 fresh episodes {play(q, 20, seed=123):.1f} (max 200)")


if __name__ == "__main__":
    main()
