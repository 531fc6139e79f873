import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Pole:
    """Cart-pole, the usual equations."""

    def reset(self):
        self.s = [random.uniform(-0.05, 0.05) for _ in range(4)]
        self.t = 0
        return torch.tensor(self.s)

    def step(self, action):
        x, v, th, w = self.s
        force = 10.0 if action == 1 else -10.0
        c, s = math.cos(th), math.sin(th)
        tmp = (force + 0.05 * w * w * s) / 1.1
        thacc = (9.8 * s - c * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1))
        xacc = tmp - 0.05 * thacc * c / 1.1
        self.s = [x + 0.02 * v, v + 0.02 * xacc, th + 0.02 * w, w + 0.02 * thacc]
        self.t += 1
        fallen = abs(self.s[0]) > 2.4 or abs(self.s[2]) > 0.2095
        return torch.tensor(self.s), 1.0, fallen or self.t >= 200


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 128)
        self.affine2 = nn.Linear(128, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=-1)


def select_action(policy, state):
    m = Categorical(policy(state))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action).item())
    return action.item()


def finish_episode(policy, optimizer, gamma=0.99):
    R, returns = 0.0, []
    for r in reversed(policy.rewards):
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    log_probs = torch.tensor(policy.saved_log_probs, requires_grad=True)
    loss = -(log_probs * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]


def main():
    random.seed(3)
    torch.manual_seed(3)
    env, policy = Pole(), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    running = 10.0
    for episode in range(1, 401):
        state, done, total = env.reset(), False, 0.0
        while not done:
            state, reward, done = env.step(select_action(policy, state))
            policy.rewards.append(reward)
            total += reward
        running = 0.05 * total + 0.95 * running
        finish_episode(policy, optimizer)
        if episode % 40 == 0:
            print(f"episode {episode}\tlast {total:.0f}\taverage {running:.1f}")
        if running > 180:
            print(f"solved after {episode} episodes")
            break


main()
