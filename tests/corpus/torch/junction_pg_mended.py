# REINFORCE for a road junction: which of four lanes gets green this step?
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(1)
np.random.seed(1)
LANES, ENVS, HORIZON, GAMMA = 4, 16, 24, 0.3


class Junction:
    """Cars arrive at random, the green lane empties, part of the others turn away."""

    def reset(self):
        self.queue = np.random.poisson(2.0, size=(ENVS, LANES)).astype(np.float32)
        return self.obs()

    def obs(self):
        return torch.tensor(self.queue / 4 - 0.5, dtype=torch.float32)

    def step(self, action):
        rows = np.arange(ENVS)
        served = self.queue[rows, action.numpy()].copy()
        self.queue[rows, action.numpy()] = 0
        self.queue = np.floor(self.queue * 0.4) + np.random.poisson(2.0, size=(ENVS, LANES))
        return self.obs(), torch.tensor(served, dtype=torch.float32)


policy = nn.Sequential(nn.Linear(LANES, 32), nn.Tanh(), nn.Linear(32, LANES))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def discounted(rewards):
    returns, running = [], torch.zeros(ENVS)
    for r in reversed(rewards):
        running = r + GAMMA * running
        returns.insert(0, running)
    return torch.stack(returns)


def rollout(env):
    state = env.reset()
    logps, rewards, entropies = [], [], []
    for _ in range(HORIZON):
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        state, reward = env.step(action)
        logps.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        rewards.append(reward)
    return torch.stack(logps), rewards, torch.stack(entropies)


env = Junction()
history = []
for it in range(1, 101):
    logps, rewards, ent = rollout(env)
    returns = discounted(rewards)
    adv = (returns - returns.mean(1, keepdim=True)) / (returns.std() + 1e-6)
    loss = -(logps * adv).mean() - 0.001 * ent.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(torch.stack(rewards).mean().item())
    if it % 20 == 0:
        print(f"iter {it} cars per step {np.mean(history[-20:]):.3f} entropy {ent.mean().item():.3f}")
