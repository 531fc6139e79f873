import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(17)


class Policy(nn.Module):
    def __init__(self, n_context=6, n_actions=5):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_context, 64), nn.Tanh())
        self.actor = nn.Linear(64, n_actions)
        self.critic = nn.Linear(64, 1)

    def forward(self, context):
        h = self.trunk(context)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


class Casino:
    def __init__(self, n_context=6, n_actions=5):
        self.w = torch.randn(n_context, n_actions)
        self.n_context = n_context

    def deal(self, n):
        return torch.randn(n, self.n_context)

    def pay(self, context, action):
        value = (context @ self.w).gather(1, action[:, None]).squeeze(1)
        return value + 0.3 * torch.randn_like(value)

    def best(self, context):
        return (context @ self.w).max(1)


casino = Casino()
policy = Policy()
optimizer = torch.optim.RMSprop(policy.parameters(), lr=2e-3)

for step in range(1, 801):
    context = casino.deal(128)
    dist, value = policy(context)
    action = dist.sample()
    reward = casino.pay(context, action)
    advantage = (reward - value).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    actor_loss = -(dist.log_prob(action) * advantage).mean()
    critic_loss = nn.functional.smooth_l1_loss(value, reward)
    loss = actor_loss + 0.5 * critic_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            probe = casino.deal(1000)
            greedy = policy(probe)[0].probs.argmax(1)
            top, arm = casino.best(probe)
            regret = (top - (probe @ casino.w).gather(1, greedy[:, None]).squeeze(1)).mean().item()
        print(f"step {step} reward {reward.mean().item():.3f} critic {critic_loss.item():.3f} "
              f"regret {regret:.3f} best arm {(greedy == arm).float().mean().item():.3f}")
