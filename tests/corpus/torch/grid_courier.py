# Policy-gradient agent for a courier on a windy grid; reward-to-go, learned baseline, entropy decay.
# The printed "loss" is a surrogate: watch the return instead.
from collections import deque

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

N, GOALS, LIMIT = 6, [(0, 5), (5, 0), (5, 5)], 30
MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
WALLS = {(2, 1), (2, 2), (2, 3), (3, 3), (4, 3)}


class CourierEnv:
    """A batch of couriers; each must bring a parcel to the corner shown in its observation."""

    def __init__(self, batch, seed):
        self.rng, self.batch = np.random.default_rng(seed), batch

    def reset(self):
        self.pos = np.stack([self.rng.integers(0, 2, self.batch), self.rng.integers(0, 3, self.batch)], 1)
        self.goal = self.rng.integers(len(GOALS), size=self.batch)
        self.done = np.zeros(self.batch, bool)
        return self.obs()

    def obs(self):
        o = np.zeros((self.batch, N * N + len(GOALS)), np.float32)
        o[np.arange(self.batch), self.pos[:, 0] * N + self.pos[:, 1]] = 1
        o[np.arange(self.batch), N * N + self.goal] = 1
        return torch.from_numpy(o)

    def step(self, action):
        reward = np.where(self.done, 0.0, -0.05).astype(np.float32)
        slip = self.rng.random(self.batch) < 0.05
        action = np.where(slip, self.rng.integers(4, size=self.batch), action)
        new = np.clip(self.pos + MOVES[action], 0, N - 1)
        for b in range(self.batch):
            if self.done[b]:
                continue
            if tuple(new[b]) not in WALLS:
                self.pos[b] = new[b]
            if tuple(self.pos[b]) == GOALS[self.goal[b]]:
                reward[b] += 1.0
                self.done[b] = True
        return self.obs(), torch.from_numpy(reward), torch.from_numpy(self.done.copy())


class ActorCritic(nn.Module):
    def __init__(self, n_obs, hidden=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh())
        self.pi, self.v = nn.Linear(hidden, 4), nn.Linear(hidden, 1)
        nn.init.zeros_(self.pi.weight)          # uniform policy at the start
        nn.init.zeros_(self.pi.bias)

    def forward(self, o):
        h = self.trunk(o)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def rollout(env, net, greedy=False):
    obs, alive = env.reset(), torch.ones(env.batch, dtype=torch.bool)
    logp, ent, val, rew, mask = [], [], [], [], []
    for _ in range(LIMIT):
        dist, v = net(obs)
        a = dist.probs.argmax(-1) if greedy else dist.sample()
        nxt, r, done = env.step(a.numpy())
        logp.append(dist.log_prob(a)), ent.append(dist.entropy()), val.append(v), rew.append(r)
        mask.append(alive.float())
        obs, alive = nxt, ~done
        if done.all():
            break
    return [torch.stack(t) for t in (logp, ent, val, rew, mask)] + [float(env.done.mean())]


def main(updates=160, gamma=0.97, seed=0):
    torch.manual_seed(seed)
    env, net = CourierEnv(48, seed), ActorCritic(N * N + len(GOALS))
    opt = torch.optim.RMSprop(net.parameters(), lr=6e-3, alpha=0.95, eps=1e-5)
    recent = deque(maxlen=20)
    with torch.no_grad():
        *_, r0, _, s0 = rollout(CourierEnv(200, 999), net)
    print(f"random policy: return {r0.sum(0).mean():.3f}  delivered {s0:.2f}")
    for u in range(1, updates + 1):
        logp, ent, val, rew, mask, _ = rollout(env, net)
        ret, acc = torch.zeros_like(rew), torch.zeros(env.batch)
        for t in reversed(range(len(rew))):
            acc = rew[t] + gamma * acc
            ret[t] = acc
        adv = ret - val.detach()
        mean = (adv * mask).sum() / mask.sum()
        std = (((adv - mean) ** 2 * mask).sum() / mask.sum()).sqrt()
        adv = (adv - mean) / (std + 1e-8)
        policy = -(logp * adv * mask).sum() / mask.sum()
        critic = ((ret - val) ** 2 * mask).sum() / mask.sum()
        bonus = (ent * mask).sum() / mask.sum()
        loss = policy + 0.5 * critic - 0.05 * (1 - u / updates) * bonus
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        recent.append(rew.sum(0).mean().item())
        if u % 20 == 0:
            print(f"update {u:4d}  loss {loss.item():+.3f}  entropy {bonus.item():.2f}  return {np.mean(recent):+.3f}")
    with torch.no_grad():
        *_, r1, _, s1 = rollout(CourierEnv(200, 999), net, greedy=True)
    print(f"greedy policy on fresh episodes: return {r1.sum(0).mean():.3f}  delivered {s1:.2f}")


if __name__ == "__main__":
    main()
