"""REINFORCE: a lift learns to fetch the waiting passenger and to bring him to his floor."""
import torch
import torch.nn as nn
from torch.distributions import Categorical

FLOORS, LIMIT, PARALLEL = 6, 24, 32


class Shaft:
    """PARALLEL lifts side by side; actions: 0 down, 1 up, 2 open the door."""

    def __init__(self, generator):
        self.g = generator

    def reset(self):
        self.lift, self.wait, self.goal = torch.randint(0, FLOORS, (3, PARALLEL), generator=self.g)
        self.aboard = torch.zeros(PARALLEL, dtype=torch.bool)
        self.done = torch.zeros(PARALLEL, dtype=torch.bool)
        return self.observe()

    def observe(self):
        hot = lambda v: nn.functional.one_hot(v, FLOORS).float()
        return torch.cat([hot(self.lift), hot(torch.where(self.aboard, self.goal, self.wait)), self.aboard[:, None].float()], 1)

    def step(self, action):
        alive = ~self.done
        move = torch.where(action == 0, -1, torch.where(action == 1, 1, 0))
        self.lift = torch.where(alive, (self.lift + move).clamp(0, FLOORS - 1), self.lift)
        opened = (action == 2) & alive
        out = opened & self.aboard & (self.lift == self.goal)
        boards = opened & ~self.aboard & (self.lift == self.wait)
        reward = -0.05 * alive.float() + 0.5 * boards.float() + 1.0 * out.float()
        self.aboard = self.aboard | boards
        self.done = self.done | out
        return self.observe(), reward, alive


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2 * FLOORS + 1, 64), nn.Tanh())
        self.actor = nn.Linear(64, 3)
        self.critic = nn.Linear(64, 1)

    def forward(self, s):
        h = self.trunk(s)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


torch.manual_seed(12)
env = Shaft(torch.Generator().manual_seed(12))
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
GAMMA = 0.97
history = []
for update in range(300):
    state = env.reset()
    log_probs, values, rewards, alive, entropies = [], [], [], [], []
    for _ in range(LIMIT):
        dist, value = policy(state)
        action = dist.sample()
        state, reward, live = env.step(action)
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(value)
        rewards.append(reward)
        alive.append(live.float())
    running, returns = torch.zeros(PARALLEL), []
    for r in reversed(rewards):
        running = r + GAMMA * running
        returns.insert(0, running)
    returns, values, alive = torch.stack(returns), torch.stack(values), torch.stack(alive)
    advantage = (returns - values).detach()
    actor_loss = -(torch.stack(log_probs) * advantage * alive).sum() / alive.sum()
    critic_loss = ((returns - values) ** 2 * alive).sum() / alive.sum()
    entropy = (torch.stack(entropies) * alive).sum() / alive.sum()
    loss = actor_loss + 0.5 * critic_loss - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
    optimizer.step()
    history.append((torch.stack(rewards).sum(0).mean().item(), env.done.float().mean().item()))
    if update % 50 == 49:
        last = torch.tensor(history[-50:]).mean(0)
        print(f"update {update + 1} loss {loss.item():+.4f} reward {last[0]:.3f} delivered {last[1]:.3f}")
