import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 4
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)


class Lift:
    """A lift in a 12-floor shaft. Start anywhere below, goal 11; pays 10 on arrival, floor 0 has a tiny tip for idling."""
    FLOORS = 12

    def reset(self):
        self.f, self.t = random.randint(0, self.FLOORS - 2), 0
        return self._o()

    def _o(self):
        v = np.zeros(self.FLOORS, dtype=np.float32)
        v[self.f] = 1
        return v

    def step(self, a):
        self.t += 1
        self.f = int(np.clip(self.f + (-1, 1)[a], 0, self.FLOORS - 1))
        if self.f == self.FLOORS - 1:
            return self._o(), 10.0, True, False
        tip = 0.05 if self.f == 0 else 0.0
        return self._o(), tip, False, self.t >= 40


class QNet(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, x):
        return self.net(x)


class Agent:
    def __init__(self, n, gamma=0.95, lr=1e-3, sync=200):
        self.online = QNet(n)
        self.target = copy.deepcopy(self.online)
        self.opt = torch.optim.Adam(self.online.parameters(), lr=lr)
        self.gamma, self.sync = gamma, sync
        self.mem = deque(maxlen=10000)
        self.updates = 0

    def act(self, s, eps):
        if random.random() < eps:
            return random.randrange(2)
        with torch.no_grad():
            return int(self.online(torch.from_numpy(s)).argmax())

    def sync_target(self):
        self.target.load_state_dict(self.online.state_dict())

    def learn(self, bs=64):
        if len(self.mem) < 500:
            return None
        s, a, r, s2, d = zip(*random.sample(self.mem, bs))
        s, s2 = torch.from_numpy(np.stack(s)), torch.from_numpy(np.stack(s2))
        a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d, dtype=torch.float32)
        with torch.no_grad():
            nxt = self.target(s2).max(1).values
            y = r + self.gamma * (1 - d) * nxt
        q = self.online(s).gather(1, a[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(q, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updates += 1
        return loss.item()


def evaluate(agent, env, n=20):
    tot, arrived = 0.0, 0
    for _ in range(n):
        s, done, cut = env.reset(), False, False
        while not (done or cut):
            s, r, done, cut = env.step(agent.act(s, 0.0))
            tot += r
        arrived += done
    return tot / n, arrived / n


env = Lift()
agent = Agent(Lift.FLOORS)
STEPS = 12000
s, losses = env.reset(), []
for step in range(1, STEPS + 1):
    eps = max(0.1, 1.0 - step / 6000)
    a = agent.act(s, eps)
    s2, r, done, cut = env.step(a)
    agent.mem.append((s, a, r, s2, done))
    s = env.reset() if (done or cut) else s2
    l = agent.learn()
    if l is not None:
        losses.append(l)
    if step % 1000 == 0:
        ret, arr = evaluate(agent, Lift())
        print(f"step {step} eps {eps:.2f} loss {np.mean(losses[-500:]):.5f} return {ret:.2f} arrived {arr:.2f}")
