from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.distributions import Categorical


@dataclass
class Settings:
    context: int = 8
    actions: int = 5
    batch: int = 128
    updates: int = 500
    lr: float = 5e-3
    entropy: float = 0.01
    value: float = 0.5
    seed: int = 30


class Machine:
    """Customers walk by; the display shows one of several snacks and a sale pays its margin."""

    def __init__(self, s):
        g = torch.Generator().manual_seed(s.seed)
        self.taste = torch.randn(s.context, s.actions, generator=g)
        self.margin = torch.tensor([1.0, 1.2, 0.8, 1.1, 0.9])
        self.s = s

    def customers(self, n):
        return torch.randn(n, self.s.context)

    def chance(self, x):
        return torch.sigmoid(1.5 * (x @ self.taste) - 1.0)

    def sell(self, x, action):
        p = self.chance(x).gather(1, action[:, None]).squeeze(1)
        return torch.bernoulli(p) * self.margin[action]

    def best(self, x):
        return (self.chance(x) * self.margin).max(1).values


class ActorCritic(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(s.context, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.policy = nn.Linear(64, s.actions)
        self.critic = nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return Categorical(logits=self.policy(h)), self.critic(h).squeeze(-1)


def main():
    s = Settings()
    torch.manual_seed(s.seed)
    machine = Machine(s)
    agent = ActorCritic(s)
    optimizer = torch.optim.Adam(agent.parameters(), lr=s.lr)
    window = []
    for update in range(1, s.updates + 1):
        x = machine.customers(s.batch)
        dist, value = agent(x)
        action = dist.sample()
        reward = machine.sell(x, action)
        advantage = reward - value.detach()
        policy_loss = -(dist.log_prob(action) * advantage).mean()
        value_loss = nn.functional.mse_loss(value, reward)
        loss = policy_loss + s.value * value_loss - s.entropy * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
        window.append(reward.mean().item())
        if update % 50 == 0:
            print(f"update {update} loss {loss.item():+.3f} value loss {value_loss.item():.3f} reward {sum(window[-50:]) / 50:.3f}")

    with torch.no_grad():
        x = machine.customers(4000)
        greedy = agent(x)[0].probs.argmax(1)
        earned = (machine.chance(x) * machine.margin).gather(1, greedy[:, None]).mean().item()
        random_pay = (machine.chance(x) * machine.margin).mean().item()
    print(f"greedy {earned:.3f}  best possible {machine.best(x).mean().item():.3f}  random {random_pay:.3f}")


if __name__ == "__main__":
    main()
