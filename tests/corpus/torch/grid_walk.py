import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

SIZE, HORIZON, N_ENVS = 5, 16, 48
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class GridWorlds:
    """N independent boards; walk to the goal square."""

    def __init__(self, n):
        self.n = n

    def reset(self):
        self.pos = torch.randint(0, SIZE, (self.n, 2))
        self.goal = torch.randint(0, SIZE, (self.n, 2))
        self.done = (self.pos == self.goal).all(1)
        return self.observe()

    def observe(self):
        return torch.cat([F.one_hot(v, SIZE).flatten(1) for v in (self.pos, self.goal)], dim=1).float()

    def step(self, action):
        active = ~self.done
        moved = (self.pos + MOVES[action]).clamp(0, SIZE - 1)
        self.pos = torch.where(active.unsqueeze(1), moved, self.pos)
        reached = active & (self.pos == self.goal).all(1)
        reward = reached.float() - 0.05 * active.float()
        self.done = self.done | reached
        return self.observe(), reward, active.float()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4 * SIZE, 64), nn.Tanh())
        self.pi = nn.Linear(64, 4)

    def forward(self, obs):
        return Categorical(logits=self.pi(self.body(obs)))


torch.manual_seed(2)
env, policy = GridWorlds(N_ENVS), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
history = []

for update in range(1, 401):
    obs = env.reset()
    log_probs, rewards, masks, entropies = [], [], [], []
    for _ in range(HORIZON):
        dist = policy(obs)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        obs, reward, active = env.step(action)
        rewards.append(reward)
        masks.append(active)

    returns, running = [], torch.zeros(N_ENVS)
    for r in reversed(rewards):
        running = r + 0.98 * running
        returns.insert(0, running)
    returns, masks = torch.stack(returns), torch.stack(masks)
    advantage = returns - (returns * masks).sum() / masks.sum()
    advantage = advantage / (advantage[masks.bool()].std() + 1e-6)

    surrogate = -(torch.stack(log_probs) * advantage * masks).sum() / masks.sum()
    bonus = (torch.stack(entropies) * masks).sum() / masks.sum()
    loss = surrogate - 0.01 * bonus
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    history.append((torch.stack(rewards).sum(0).mean().item(), env.done.float().mean().item()))
    if update % 40 == 0:
        ret, solved = (sum(h) / 40 for h in zip(*history[-40:]))
        print(f"update {update:3d}  loss {loss.item():+.3f}  entropy {bonus.item():.3f}  return {ret:+.3f}  solved {solved:.2f}")
