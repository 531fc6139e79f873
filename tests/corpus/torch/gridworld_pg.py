"""REINFORCE with a baseline on a 5x5 grid: walk to the goal, avoid the pits."""
import argparse
import torch
from torch import nn
from torch.distributions import Categorical

SIZE = 5
GOAL = (4, 4)
PITS = {(1, 3), (3, 1)}
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


class Grid:
    def reset(self):
        self.pos, self.steps = (0, 0), 0
        return self.observe()

    def observe(self):
        obs = torch.zeros(SIZE * SIZE)
        obs[self.pos[0] * SIZE + self.pos[1]] = 1.0
        return obs

    def step(self, action):
        self.steps += 1
        dr, dc = MOVES[action]
        self.pos = (min(max(self.pos[0] + dr, 0), SIZE - 1), min(max(self.pos[1] + dc, 0), SIZE - 1))
        if self.pos == GOAL:
            return self.observe(), 1.0, True
        if self.pos in PITS:
            return self.observe(), -0.5, True
        return self.observe(), -0.02, self.steps >= 40


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(SIZE * SIZE, 64), nn.Tanh())
        self.policy = nn.Linear(64, 4)
        self.value = nn.Linear(64, 1)

    def forward(self, obs):
        h = self.trunk(obs)
        return Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


def play(env, agent):
    obs, done = env.reset(), False
    log_probs, values, rewards, entropies = [], [], [], []
    while not done:
        dist, value = agent(obs)
        action = dist.sample()
        obs, reward, done = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(value)
        rewards.append(reward)
    return torch.stack(log_probs), torch.stack(values), rewards, torch.stack(entropies)


def returns_of(rewards, gamma):
    out, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        out.append(running)
    return torch.tensor(out[::-1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=2000)
    p.add_argument("--gamma", type=float, default=0.98)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--group", type=int, default=8, help="episodes per update")
    a = p.parse_args()
    torch.manual_seed(17)
    env, agent = Grid(), Agent()
    opt = torch.optim.Adam(agent.parameters(), lr=a.lr)
    scores, wins = [], []

    for ep in range(1, a.episodes + 1):
        log_probs, values, rewards, entropies = play(env, agent)
        ret = returns_of(rewards, a.gamma)
        advantage = ret - values.detach()
        actor = -(log_probs * advantage).sum()
        critic = 0.5 * (values - ret).pow(2).sum()
        loss = (actor + critic - 0.03 * entropies.sum()) / a.group
        loss.backward()
        if ep % a.group == 0:
            opt.step()
            opt.zero_grad()
        scores.append(sum(rewards))
        wins.append(rewards[-1] == 1.0)
        if ep % 200 == 0:
            print(f"episode {ep}: return {sum(scores[-200:]) / 200:+.3f}  goal reached {sum(wins[-200:]) / 2:.0f}%  loss {loss.item():+.3f}")


if __name__ == "__main__":
    main()
