"""REINFORCE with a per-step baseline on a small windy grid with a cliff row."""
import torch
from torch import nn
from torch.distributions import Categorical

H, W = 4, 6
START, GOAL = (3, 0), (3, 5)
MOVES = torch.tensor([[-1, 0], [0, 1], [1, 0], [0, -1]])
LIMIT = 40


class WindyCliff:
    """Many copies of the grid at once. Falling off costs 3 and ends the walk."""

    def __init__(self, copies, gen):
        self.n, self.gen = copies, gen

    def reset(self):
        self.pos = torch.tensor(START).repeat(self.n, 1)
        self.done = torch.zeros(self.n, dtype=torch.bool)
        return self.observe()

    def observe(self):
        return nn.functional.one_hot(self.pos[:, 0] * W + self.pos[:, 1], H * W).float()

    def step(self, action):
        slip = torch.rand(self.n, generator=self.gen) < 0.05
        action = torch.where(slip, torch.randint(0, 4, (self.n,), generator=self.gen), action)
        new = self.pos + MOVES[action]
        new[:, 0].clamp_(0, H - 1)
        new[:, 1].clamp_(0, W - 1)
        self.pos = torch.where(self.done[:, None], self.pos, new)
        at_goal = (self.pos == torch.tensor(GOAL)).all(1)
        fell = (self.pos[:, 0] == H - 1) & (self.pos[:, 1] > 0) & ~at_goal
        reward = torch.full((self.n,), -0.1)
        reward[at_goal] = 8.0
        reward[fell] = -3.0
        reward[self.done] = 0.0
        alive = (~self.done).float()
        self.done = self.done | at_goal | fell
        return self.observe(), reward, alive


def rollout(env, policy, greedy=False):
    obs = env.reset()
    logps, rewards, masks, ents = [], [], [], []
    for _ in range(LIMIT):
        dist = Categorical(logits=policy(obs))
        action = dist.probs.argmax(-1) if greedy else dist.sample()
        obs, reward, alive = env.step(action)
        logps.append(dist.log_prob(action))
        ents.append(dist.entropy())
        rewards.append(reward)
        masks.append(alive)
        if env.done.all():
            break
    return map(torch.stack, (logps, rewards, masks, ents))


def main():
    torch.manual_seed(9)
    env = WindyCliff(64, torch.Generator().manual_seed(1))
    policy = nn.Sequential(nn.Linear(H * W, 48), nn.Tanh(), nn.Linear(48, 4))
    opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
    updates, gamma = 150, 0.98

    with torch.no_grad():
        _, r, _, _ = rollout(WindyCliff(500, torch.Generator().manual_seed(77)), policy)
    before = r.sum(0).mean().item()

    for it in range(updates):
        logp, reward, mask, ent = rollout(env, policy)
        togo = torch.zeros_like(reward)
        acc = torch.zeros(reward.shape[1])
        for t in reversed(range(len(reward))):
            acc = reward[t] + gamma * acc
            togo[t] = acc
        count = mask.sum(1, keepdim=True).clamp(min=1)
        adv = (togo - (togo * mask).sum(1, keepdim=True) / count) * mask
        adv = adv / (adv.pow(2).sum() / mask.sum()).sqrt().clamp(min=1e-3)
        beta = 0.05 * (1 - it / updates)
        loss = -((adv * logp + beta * ent) * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 25 == 0:
            print(f"update {it:3d} surrogate {loss.item():+.4f} mean return {reward.sum(0).mean():.2f} "
                  f"walk length {mask.sum(0).mean():.1f}")

    with torch.no_grad():
        _, r, _, _ = rollout(WindyCliff(500, torch.Generator().manual_seed(78)), policy, greedy=True)
    print(f"greedy return on fresh walks {r.sum(0).mean():.2f} (untrained policy {before:.2f})")


if __name__ == "__main__":
    main()
