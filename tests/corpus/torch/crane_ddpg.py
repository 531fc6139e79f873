"""Swing-free positioning of a trolley with a deterministic actor-critic and replay memory."""
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(3); np.random.seed(3); torch.manual_seed(3)


class Trolley:
    """Mass on a rail with drag; drive it to the marker and stay there. Time limit only, no real terminal state
    except leaving the rail."""
    dt, limit = 0.1, 60

    def reset(self):
        self.x, self.v = np.random.uniform(-1.5, 1.5), np.random.uniform(-.3, .3)
        self.goal, self.t = np.random.uniform(-1, 1), 0
        return self._obs()

    def _obs(self):
        return np.array([self.x - self.goal, self.v, self.x], dtype=np.float32)

    def step(self, force):
        self.v += self.dt * (2.0 * force - 0.3 * self.v)
        self.x += self.dt * self.v
        self.t += 1
        off = abs(self.x) > 3
        reward = -abs(self.x - self.goal) - 0.05 * force ** 2 - (10.0 if off else 0.0)
        return self._obs(), reward, off, self.t >= self.limit


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
        nn.init.uniform_(self.body[-1].weight, -3e-3, 3e-3)

    def forward(self, s):
        return torch.tanh(self.body(s))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
        self.q2 = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, s, a):
        sa = torch.cat([s, a], 1)
        return self.q1(sa).squeeze(1), self.q2(sa).squeeze(1)


actor, critic = Actor(), Critic()
actor_slow, critic_slow = copy.deepcopy(actor), copy.deepcopy(critic)
for p in list(actor_slow.parameters()) + list(critic_slow.parameters()):
    p.requires_grad_(False)
opt_a = torch.optim.Adam(actor.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
memory = deque(maxlen=20000)
GAMMA, TAU = 0.96, 0.01


def learn(step):
    rows = random.sample(memory, 128)
    s, a, r, s2, dead = (torch.as_tensor(np.array(c), dtype=torch.float32) for c in zip(*rows))
    a = a.unsqueeze(1)
    with torch.no_grad():
        noise = (torch.randn_like(a) * 0.1).clamp(-.25, .25)
        a2 = (actor_slow(s2) + noise).clamp(-1, 1)
        target = r + GAMMA * (1 - dead) * torch.min(*critic_slow(s2, a2))
    q1, q2 = critic(s, a)
    critic_loss = F.smooth_l1_loss(q1, target) + F.smooth_l1_loss(q2, target)
    opt_c.zero_grad()
    critic_loss.backward()
    opt_c.step()
    if step % 2 == 0:
        # gradients also land in the critic here; they are cleared before its next own step
        actor_loss = -critic(s, actor(s))[0].mean()
        opt_a.zero_grad()
        actor_loss.backward()
        opt_a.step()
        with torch.no_grad():
            for net, slow in ((actor, actor_slow), (critic, critic_slow)):
                for p, q in zip(net.parameters(), slow.parameters()):
                    q.lerp_(p, TAU)
    return critic_loss.item()


def score(n=20):
    env, total, final = Trolley(), 0.0, 0.0
    for _ in range(n):
        s, over = env.reset(), False
        while not over:
            with torch.no_grad():
                a = actor(torch.from_numpy(s)[None]).item()
            s, r, dead, out = env.step(a)
            total += r
            over = dead or out
        final += abs(s[0])
    return total / n, final / n


env, step = Trolley(), 0
print("untrained return %.1f, miss %.2f" % score())
for episode in range(110):
    s, over = env.reset(), False
    while not over:
        if step < 600:
            a = random.uniform(-1, 1)
        else:
            with torch.no_grad():
                a = float(np.clip(actor(torch.from_numpy(s)[None]).item() + np.random.randn() * 0.2, -1, 1))
        s2, r, dead, out = env.step(a)
        memory.append((s, a, r, s2, float(dead)))
        s, over = s2, dead or out
        step += 1
        if step >= 600:
            td = learn(step)
    if episode % 20 == 19:
        print("episode %d td %.4f return %.1f miss %.2f" % ((episode, td) + score()))
print("final return %.1f, miss %.2f" % score(50))
