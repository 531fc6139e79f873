# REINFORCE on a small wind-and-corridor world
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Corridor:
    """Walk on a 7x7 grid from a random cell to the exit, wind blows sometimes."""
    size = 7
    moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def reset(self):
        self.pos = np.random.randint(0, self.size, 2)
        self.goal = np.array([self.size - 1, self.size // 2])
        self.t = 0
        return self.obs()

    def obs(self):
        return np.concatenate([self.pos, self.goal - self.pos]).astype(np.float32) / self.size

    def step(self, a):
        if np.random.rand() < 0.1:
            a = np.random.randint(4)
        self.pos = np.clip(self.pos + self.moves[a], 0, self.size - 1)
        self.t += 1
        done = bool((self.pos == self.goal).all())
        return self.obs(), (1.0 if done else -0.05), done or self.t >= 40


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 4))

    def forward(self, x):
        return Categorical(logits=self.net(x))


np.random.seed(3)
torch.manual_seed(3)
env, policy = Corridor(), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
gamma, history = 0.97, []

for episode in range(1, 1201):
    obs, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        dist = policy(torch.from_numpy(obs))
        action = dist.sample()
        obs, r, done = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        rewards.append(r)

    G, returns = 0.0, []
    for r in reversed(rewards):
        G = r + gamma * G
        returns.insert(0, G)
    returns = torch.tensor(returns)
    baseline = np.mean(history[-50:]) if history else 0.0

    log_probs = torch.tensor(log_probs, requires_grad=True)
    loss = -(log_probs * (returns - baseline)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    history.append(sum(rewards))
    if episode % 150 == 0:
        print(f"episode {episode:5d}  loss {loss.item():+.3f}  mean return (last 150) {np.mean(history[-150:]):+.3f}")
