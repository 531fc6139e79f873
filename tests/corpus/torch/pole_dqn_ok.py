"""DQN on a hand-written cart-pole, several environments stepped side by side."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Poles:
    def __init__(self, n, limit=200, seed=0):
        self.n, self.limit = n, limit
        self.rng = np.random.default_rng(seed)
        self.s = self.rng.uniform(-0.05, 0.05, (n, 4))
        self.t = np.zeros(n, dtype=int)

    def step(self, a):
        x, v, th, w = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        tmp = (force + 0.05 * w**2 * np.sin(th)) / 1.1
        acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        xacc = tmp - 0.05 * acc * np.cos(th) / 1.1
        dt = 0.02
        nxt = np.stack([x + dt * v, v + dt * xacc, th + dt * w, w + dt * acc], 1)
        self.t += 1
        fell = (np.abs(nxt[:, 0]) > 2.4) | (np.abs(nxt[:, 2]) > 0.2095)
        over = fell | (self.t >= self.limit)
        lengths = self.t[over].copy()
        self.s = np.where(over[:, None], self.rng.uniform(-0.05, 0.05, (self.n, 4)), nxt)
        self.t = np.where(over, 0, self.t)
        return nxt, fell, lengths


class Replay:
    def __init__(self, size):
        self.size, self.count = size, 0
        self.s = np.zeros((size, 4), np.float32)
        self.a = np.zeros(size, np.int64)
        self.n = np.zeros((size, 4), np.float32)
        self.d = np.zeros(size, np.float32)

    def push(self, s, a, n, d):
        idx = (self.count + np.arange(len(a))) % self.size
        self.s[idx], self.a[idx], self.n[idx], self.d[idx] = s, a, n, d
        self.count += len(a)

    def sample(self, k, rng):
        i = rng.integers(0, min(self.count, self.size), k)
        return [torch.from_numpy(z[i]) for z in (self.s, self.a, self.n, self.d)]


def make_net():
    return nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))


def scaled(s):
    return torch.as_tensor(s, dtype=torch.float32) * torch.tensor([1.0, 0.5, 5.0, 0.5])


@torch.no_grad()
def play(net, episodes=20):
    env = Poles(episodes, seed=123)
    first = np.zeros(episodes, dtype=int)
    for t in range(1, 201):
        _, fell, _ = env.step(net(scaled(env.s)).argmax(1).numpy())
        first = np.where((first == 0) & fell, t, first)
    return np.where(first == 0, 200, first).mean()


torch.manual_seed(3)
rng = np.random.default_rng(3)
env = Poles(8)
memory = Replay(50000)
q, target = make_net(), make_net()
target.load_state_dict(q.state_dict())
optim = torch.optim.Adam(q.parameters(), lr=5e-4)
gamma, steps = 0.98, 2500
recent = []

for step in range(steps):
    eps = max(0.05, 1.0 - step / 1500)
    state = env.s.copy()
    with torch.no_grad():
        act = q(scaled(state)).argmax(1).numpy()
    act = np.where(rng.random(8) < eps, rng.integers(0, 2, 8), act)
    nxt, done, lengths = env.step(act)
    recent.extend(lengths.tolist())
    memory.push(state, act, nxt, done)
    if memory.count < 500:
        continue
    s, a, n, d = memory.sample(96, rng)
    with torch.no_grad():
        best = q(scaled(n)).argmax(1, keepdim=True)
        future = target(scaled(n)).gather(1, best).squeeze(1)
        goal = 1.0 + gamma * future * (1 - d)
    pred = q(scaled(s)).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(pred, goal)
    optim.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(q.parameters(), 10.0)
    optim.step()
    if step % 100 == 0:
        target.load_state_dict(q.state_dict())
    if (step + 1) % 500 == 0:
        tail = np.mean(recent[-30:]) if recent else float("nan")
        print(f"step {step+1}  loss {loss.item():.3f}  mean q {pred.mean().item():.2f}  recent length {tail:.1f}  greedy {play(q):.1f}")

print("greedy episode length over 20 starts: %.1f of 200" % play(q))
