"""Advantage actor-critic for a small warehouse grid with a conveyor that pushes the robot."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])


class Warehouse:
    """Many copies run side by side. -0.04 a step, -1 for a collision, +1 at the goal."""

    def __init__(self, n_envs, rng, size=6, limit=30):
        self.n, self.rng, self.size, self.limit = n_envs, rng, size, limit
        self.shelves = {(1, 1), (1, 2), (3, 4), (4, 1), (2, 4)}
        self.free = np.array([(r, c) for r in range(size) for c in range(size)
                              if (r, c) not in self.shelves])
        self.pos, self.goal = np.zeros((n_envs, 2), int), np.zeros((n_envs, 2), int)
        self.clock = np.zeros(n_envs, int)
        for k in range(n_envs):
            self.reset(k)

    def reset(self, k):
        a, b = self.rng.choice(len(self.free), 2, replace=False)
        self.pos[k], self.goal[k], self.clock[k] = self.free[a], self.free[b], 0

    def observe(self):
        grid = np.zeros((self.n, 2, self.size * self.size), dtype=np.float32)
        rows = np.arange(self.n)
        grid[rows, 0, self.pos @ [self.size, 1]] = 1
        grid[rows, 1, self.goal @ [self.size, 1]] = 1
        return torch.from_numpy(grid.reshape(self.n, -1))

    def step(self, actions):
        reward = np.full(self.n, -0.04, dtype=np.float32)
        done, success = np.zeros(self.n, np.float32), np.zeros(self.n, bool)
        for k, a in enumerate(actions):
            target = self.pos[k] + MOVES[a]
            if target[0] == 5 and target[1] < 5 and self.rng.random() < 0.3:
                target = target + [0, 1]
            inside = (target >= 0).all() and (target < self.size).all()
            if not inside or tuple(target) in self.shelves:
                reward[k] -= 0.2
            else:
                self.pos[k] = target
            self.clock[k] += 1
            if (self.pos[k] == self.goal[k]).all():
                reward[k], done[k], success[k] = 1.0, 1, True
            elif self.clock[k] >= self.limit:
                reward[k], done[k] = -1.0, 1
            if done[k]:
                self.reset(k)
        return reward, done, success


class ActorCritic(nn.Module):
    def __init__(self, n_in, n_actions, hidden=96):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, hidden), nn.Tanh(),
                                   nn.Linear(hidden, hidden), nn.Tanh())
        self.policy, self.value = nn.Linear(hidden, n_actions), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, obs):
        h = self.trunk(obs)
        return self.policy(h), self.value(h).squeeze(-1)


@torch.no_grad()
def success_rate(choose, seed, episodes=400):
    env = Warehouse(100, np.random.default_rng(seed))
    won = ended = 0
    while ended < episodes:
        _, done, success = env.step(choose(env.observe()))
        won, ended = won + success.sum(), ended + done.sum()
    return won / ended


def train(a):
    torch.manual_seed(a.seed)
    env = Warehouse(a.envs, np.random.default_rng(a.seed))
    net = ActorCritic(72, 4)
    opt = torch.optim.RMSprop(net.parameters(), lr=a.lr, alpha=0.99, eps=1e-5)
    for update in range(1, a.updates + 1):
        logps, values, entropies, rewards, dones = [], [], [], [], []
        for _ in range(a.horizon):
            logits, value = net(env.observe())
            dist = Categorical(logits=logits)
            action = dist.sample()
            reward, done, _ = env.step(action.tolist())
            logps.append(dist.log_prob(action)), values.append(value)
            entropies.append(dist.entropy())
            rewards.append(torch.from_numpy(reward)), dones.append(torch.from_numpy(done))
        with torch.no_grad():
            ret = net(env.observe())[1]
            returns = []
            for r, d in zip(reversed(rewards), reversed(dones)):
                ret = r + a.gamma * ret * (1 - d)
                returns.insert(0, ret)
        returns, values = torch.stack(returns), torch.stack(values)
        advantage = (returns - values).detach()
        policy_loss = -(torch.stack(logps) * advantage).mean()
        value_loss = (returns - values).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss - a.entropy * torch.stack(entropies).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        if update % 100 == 0:
            print(f"update {update} loss {loss.item():+.4f} policy {policy_loss.item():+.4f} "
                  f"reward/step {torch.stack(rewards).mean():+.3f}")

    rng = np.random.default_rng(1)
    print(f"random policy success {success_rate(lambda o: rng.integers(0, 4, len(o)), 77):.3f}")
    net.eval()
    print(f"trained policy success {success_rate(lambda o: net(o)[0].argmax(1).tolist(), 77):.3f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=450)
    p.add_argument("--envs", type=int, default=24)
    p.add_argument("--horizon", type=int, default=12)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--entropy", type=float, default=0.02)
    p.add_argument("--seed", type=int, default=6)
    train(p.parse_args())
