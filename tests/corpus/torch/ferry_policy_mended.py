# A ferry has to pick a heading at each of 12 legs; a good first half pays off only in the second half.
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

ap = argparse.ArgumentParser()
ap.add_argument("--updates", type=int, default=500)
ap.add_argument("--fleet", type=int, default=64)
ap.add_argument("--legs", type=int, default=12)
ap.add_argument("--gamma", type=float, default=0.98)
ap.add_argument("--lr", type=float, default=3e-3)
ap.add_argument("--seed", type=int, default=0)
a = ap.parse_args()
torch.manual_seed(a.seed)


class River:
    """Fleet of independent boats on a line 0..10. Fuel is paid per move; the dock at 10 pays per leg spent there."""

    def __init__(self, n):
        self.n = n

    def reset(self):
        self.pos = torch.randint(2, 5, (self.n,))
        self.t = 0
        return self.obs()

    def obs(self):
        x = F.one_hot(self.pos, 11).float()
        t = torch.full((self.n, 1), self.t / a.legs)
        return torch.cat([x, t], 1)

    def step(self, act):
        move = torch.tensor([-1, 0, 2])[act]
        self.pos = (self.pos + move).clamp(0, 10)
        fuel = torch.tensor([0.0, 0.0, 0.3])[act]
        pay = (self.pos == 10).float()
        self.t += 1
        return self.obs(), pay - fuel


def discounted(rewards, gamma):
    out, run = [], torch.zeros_like(rewards[0])
    for r in reversed(rewards):
        run = r + gamma * run
        out.append(run)
    return torch.stack(out[::-1])


policy = nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 3))
opt = torch.optim.Adam(policy.parameters(), lr=a.lr)
env = River(a.fleet)
smooth = None

for u in range(a.updates):
    s = env.reset()
    logps, rews, ents = [], [], []
    for _ in range(a.legs):
        dist = Categorical(logits=policy(s))
        act = dist.sample()
        logps.append(dist.log_prob(act))
        ents.append(dist.entropy())
        s, r = env.step(act)
        rews.append(r)
    ret = discounted(rews, a.gamma)
    adv = ret - ret.mean(1, keepdim=True)
    adv = adv / (adv.std() + 1e-6)
    loss = -(torch.stack(logps) * adv).mean() - 0.01 * torch.stack(ents).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    score = torch.stack(rews).sum(0).mean().item()
    smooth = score if smooth is None else 0.95 * smooth + 0.05 * score
    if u % 50 == 0 or u == a.updates - 1:
        print(f"update {u:4d} loss {loss.item():+.4f} reward {score:+.3f} smooth {smooth:+.3f}")
