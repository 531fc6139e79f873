"""REINFORCE with a learned baseline on a windy grid, many environments at once."""
from __future__ import annotations

import torch
from torch import nn
from torch.distributions import Categorical

SIZE, HORIZON, N_ENV, GAMMA = 6, 24, 96, 0.97
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class WindyGrid:
    def __init__(self, n: int, gen: torch.Generator):
        self.n, self.gen = n, gen
        self.reset()

    def reset(self) -> torch.Tensor:
        self.pos = torch.randint(0, SIZE, (self.n, 2), generator=self.gen)
        self.goal = torch.randint(0, SIZE, (self.n, 2), generator=self.gen)
        self.done = (self.pos == self.goal).all(1)
        return self.observe()

    def observe(self) -> torch.Tensor:
        return torch.cat([self.pos, self.goal], 1).float() / (SIZE - 1) * 2 - 1

    def step(self, action: torch.Tensor):
        gust = torch.rand(self.n, generator=self.gen) < 0.1
        rand = torch.randint(0, 4, (self.n,), generator=self.gen)
        action = torch.where(gust, rand, action)
        new = (self.pos + MOVES[action]).clamp(0, SIZE - 1)
        self.pos = torch.where(self.done[:, None], self.pos, new)
        alive = ~self.done
        hit = (self.pos == self.goal).all(1) & alive
        reward = torch.where(alive, torch.where(hit, 1.0, -0.05), 0.0)
        self.done = self.done | hit
        return self.observe(), reward, alive.float()


def net(n_out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, n_out))


def rollout(env: WindyGrid, policy: nn.Module):
    obs, logps, rewards, masks, ents = [], [], [], [], []
    o = env.reset()
    for _ in range(HORIZON):
        dist = Categorical(logits=policy(o))
        a = dist.sample()
        obs.append(o)
        logps.append(dist.log_prob(a))
        ents.append(dist.entropy())
        o, r, m = env.step(a)
        rewards.append(r)
        masks.append(m)
    returns, acc = [], torch.zeros(env.n)
    for r in reversed(rewards):
        acc = r + GAMMA * acc
        returns.append(acc)
    returns.reverse()
    return [torch.stack(v) for v in (obs, logps, ents, rewards, masks, returns)]


def main() -> None:
    torch.manual_seed(2)
    env = WindyGrid(N_ENV, torch.Generator().manual_seed(2))
    policy, critic = net(4), net(1)
    opt_pi = torch.optim.Adam(policy.parameters(), lr=2e-3)
    opt_v = torch.optim.Adam(critic.parameters(), lr=5e-3)
    for it in range(1, 501):
        obs, logp, ent, rew, mask, ret = rollout(env, policy)
        value = critic(obs).squeeze(-1)
        adv = (ret - value).detach()
        count = mask.sum().clamp(min=1)
        pi_loss = -((adv * logp + 0.01 * ent) * mask).sum() / count
        v_loss = ((value - ret).pow(2) * mask).sum() / count

        opt_pi.zero_grad()
        pi_loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        opt_pi.step()

        opt_v.zero_grad()
        v_loss.backward()
        opt_v.step()
        if it % 50 == 0:
            print(f"it {it:4d}  return {rew.sum(0).mean():+.3f}  solved {env.done.float().mean():.2f}  "
                  f"pi {pi_loss.item():+.4f}  v {v_loss.item():.4f}")

    test = WindyGrid(500, torch.Generator().manual_seed(99))
    with torch.no_grad():
        o, total = test.reset(), torch.zeros(500)
        for _ in range(HORIZON):
            o, r, _ = test.step(policy(o).argmax(1))
            total += r
    print(f"greedy policy: return {total.mean():+.3f}, solved {test.done.float().mean():.3f}")


if __name__ == "__main__":
    main()
