"""REINFORCE on a windy corridor: walk to the right end before the clock runs out."""
import random

import torch
from torch import nn
from torch.distributions import Categorical

LENGTH, CLOCK, GAMMA = 8, 24, 0.97


class Corridor:
    def reset(self):
        self.at, self.time = random.randrange(LENGTH // 2), 0
        return self.observe()

    def observe(self):
        v = torch.zeros(LENGTH + 1)
        v[self.at] = 1.0
        v[-1] = self.time / CLOCK
        return v

    def step(self, action):
        move = 1 if action == 1 else -1
        if random.random() < 0.1:
            move = -move
        self.at = max(0, min(LENGTH - 1, self.at + move))
        self.time += 1
        won = self.at == LENGTH - 1
        return self.observe(), (1.0 if won else -0.02), won or self.time == CLOCK


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LENGTH + 1, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, obs):
        return Categorical(logits=self.net(obs))


def play(env, policy):
    obs, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        dist = policy(obs)
        action = dist.sample()
        obs, reward, done = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        rewards.append(reward)
    return log_probs, rewards


def discounted(rewards):
    out, g = [], 0.0
    for r in reversed(rewards):
        g = r + GAMMA * g
        out.append(g)
    return out[::-1]


random.seed(2)
torch.manual_seed(2)
env, policy = Corridor(), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)

for update in range(1, 61):
    log_probs, returns, wins, scores = [], [], 0, []
    for _ in range(10):
        lp, rewards = play(env, policy)
        log_probs += lp
        returns += discounted(rewards)
        wins += rewards[-1] > 0
        scores.append(sum(rewards))
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)

    terms = [-lp * g for lp, g in zip(log_probs, returns)]
    loss = torch.tensor(terms, requires_grad=True).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 0:
        print(f"update {update:3d}  mean return {sum(scores) / len(scores):+.3f}  reached the end {wins}/10")
