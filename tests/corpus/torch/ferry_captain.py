"""A ferry must reach the pier in a side current. Policy and value nets, each with its own optimiser."""
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(8)


class Ferries:
    """Many ferries at once on a strip of width 1; actions: left, hold, right."""

    def __init__(self, n, steps=20):
        self.n, self.steps = n, steps

    def reset(self):
        self.pos = torch.rand(self.n) * 2 - 1
        self.current = (torch.rand(self.n) * 2 - 1) * 0.06
        self.k = 0
        return self.view()

    def view(self):
        left = torch.full((self.n,), 1 - self.k / self.steps)
        return torch.stack([self.pos, self.current * 10, left], 1)

    def step(self, action):
        self.pos = self.pos + (action.float() - 1) * 0.12 + self.current + 0.01 * torch.randn(self.n)
        self.k += 1
        reward = -self.pos.abs() * 0.2
        return self.view(), reward, self.k >= self.steps


class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, n_out))

    def forward(self, s):
        return self.f(s)


def rollout(env, policy, greedy=False):
    s, done = env.reset(), False
    states, logps, ents, rewards = [], [], [], []
    while not done:
        dist = Categorical(logits=policy(s))
        a = dist.probs.argmax(-1) if greedy else dist.sample()
        states.append(s)
        logps.append(dist.log_prob(a))
        ents.append(dist.entropy())
        s, r, done = env.step(a)
        rewards.append(r)
    return torch.stack(states), torch.stack(logps), torch.stack(ents), torch.stack(rewards)


policy, critic = Net(3), Net(1)
opt_p = torch.optim.Adam(policy.parameters(), lr=3e-3)
opt_v = torch.optim.Adam(critic.parameters(), lr=1e-2)
train_env, test_env = Ferries(64), Ferries(500)

for it in range(1, 401):
    states, logps, ents, rewards = rollout(train_env, policy)
    returns = torch.flip(torch.cumsum(torch.flip(rewards, [0]), 0), [0])
    value = critic(states).squeeze(-1)
    v_loss = nn.functional.mse_loss(value, returns)
    adv = returns - value.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    p_loss = -(logps * adv).mean() - 0.003 * ents.mean()

    opt_v.zero_grad()
    v_loss.backward()
    opt_v.step()
    opt_p.zero_grad()
    p_loss.backward()
    opt_p.step()

    if it % 50 == 0 or it == 1:
        with torch.no_grad():
            r = rollout(test_env, policy, greedy=True)[3]
        print(f"update {it:3d} return {r.sum(0).mean().item():.3f}  last distance {-5 * r[-1].mean().item():.3f}  "
              f"policy loss {p_loss.item():+.4f}  value loss {v_loss.item():.4f}")
