"""Warehouse robot: REINFORCE with a leave-one-out baseline on a batched grid world with a start curriculum."""
import torch
import torch.nn as nn
from torch.distributions import Categorical

SIZE, HORIZON = 7, 24
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])
WALLS = torch.zeros(SIZE, SIZE, dtype=torch.bool)
WALLS[3, 1:6] = True
WALLS[1, 4] = True
FREE = (~WALLS).nonzero()


class Warehouse:
    """Many robots at once; each wants to reach its own shelf; -0.05 a step, +1 on arrival."""

    def reset(self, n, radius):
        self.goal = FREE[torch.randint(len(FREE), (n,))]
        self.pos = self.goal.clone()
        while True:
            todo = (self.pos == self.goal).all(1) | ((self.pos - self.goal).abs().sum(1) > radius)
            if not todo.any():
                break
            self.pos[todo] = FREE[torch.randint(len(FREE), (int(todo.sum()),))]
        self.done = torch.zeros(n, dtype=torch.bool)
        return self.observe()

    def observe(self):
        eye = torch.eye(SIZE)
        return torch.cat([eye[self.pos[:, 0]], eye[self.pos[:, 1]], eye[self.goal[:, 0]], eye[self.goal[:, 1]]], 1)

    def step(self, a):
        new = (self.pos + MOVES[a]).clamp(0, SIZE - 1)
        free = ~WALLS[new[:, 0], new[:, 1]] & ~self.done
        self.pos = torch.where(free[:, None], new, self.pos)
        arrived = (self.pos == self.goal).all(1) & ~self.done
        reward = torch.where(self.done, 0.0, -0.05) + arrived.float()
        self.done = self.done | arrived
        return self.observe(), reward


def rollout(env, policy, n, radius, greedy=False):
    obs = env.reset(n, radius)
    logps, ents, rewards, alive = [], [], [], []
    for _ in range(HORIZON):
        live = ~env.done
        dist = Categorical(logits=policy(obs))
        a = dist.probs.argmax(1) if greedy else dist.sample()
        obs, r = env.step(a)
        logps.append(dist.log_prob(a) * live)
        ents.append(dist.entropy() * live)
        rewards.append(r)
        alive.append(live.float())
    return map(torch.stack, (logps, ents, rewards, alive))


def main():
    torch.manual_seed(14)
    env = Warehouse()
    policy = nn.Sequential(nn.Linear(4 * SIZE, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 4))
    with torch.no_grad():
        policy[-1].weight.mul_(0.01)
        base = list(rollout(env, policy, 2000, 99))
        random_return = base[2].sum(0).mean().item()
        random_success = env.done.float().mean().item()

    opt = torch.optim.Adam(policy.parameters(), lr=3e-3, betas=(0.8, 0.99))
    updates = 400
    for u in range(updates):
        radius = 2 + int(12 * min(1.0, u / 200))
        logp, ent, rew, alive = rollout(env, policy, 256, radius)
        togo = rew.flip(0).cumsum(0).flip(0)
        n = alive.sum(1, keepdim=True)
        others = ((togo * alive).sum(1, keepdim=True) - togo * alive) / (n - 1).clamp(min=1)
        adv = (togo - others) * alive
        loss = -(logp * adv.detach()).sum() / alive.sum() - 0.01 * ent.sum() / alive.sum()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        opt.step()
        if u % 50 == 49:
            print(f"update {u + 1} radius {radius} loss {loss.item():+.4f} return {rew.sum(0).mean():+.3f} "
                  f"arrived {env.done.float().mean():.3f} entropy {(ent.sum() / alive.sum()).item():.3f}")

    with torch.no_grad():
        _, _, rew, _ = rollout(env, policy, 2000, 99, greedy=True)
    print(f"fresh starts, greedy: return {rew.sum(0).mean():+.3f}, arrived {env.done.float().mean():.3f} "
          f"(random walk: {random_return:+.3f}, {random_success:.3f})")


if __name__ == "__main__":
    main()
