"""Advantage actor-critic on a home-made cart-pole, 16 copies stepped as one batch."""
import argparse
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F


class CartPoleBatch:
    """Physics of the classic task; an episode is cut after `limit` steps (truncation, not failure)."""

    def __init__(self, n, limit=200, generator=None):
        self.n, self.limit, self.gen = n, limit, generator
        self.state = self._fresh(n)
        self.age = torch.zeros(n)

    def _fresh(self, k):
        return (torch.rand(k, 4, generator=self.gen) - 0.5) * 0.1

    def step(self, action):
        x, v, th, w = self.state.unbind(1)
        force = torch.where(action == 1, 10.0, -10.0)
        cos, sin = th.cos(), th.sin()
        tmp = (force + 0.05 * w ** 2 * sin) / 1.1
        th_acc = (9.8 * sin - cos * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * cos ** 2 / 1.1))
        x_acc = tmp - 0.05 * th_acc * cos / 1.1
        self.state = torch.stack([x + 0.02 * v, v + 0.02 * x_acc, th + 0.02 * w, w + 0.02 * th_acc], 1)
        self.age += 1
        fell = (self.state[:, 0].abs() > 2.4) | (self.state[:, 2].abs() > 12 * math.pi / 180)
        cut = (self.age >= self.limit) & ~fell
        last = self.state.clone()
        lengths = self.age[fell | cut].tolist()
        over = fell | cut
        if over.any():
            self.state[over] = self._fresh(int(over.sum()))
            self.age[over] = 0
        return last, fell, cut, lengths


SCALE = torch.tensor([1.0, 1.0, 5.0, 1.0])


class ActorCritic(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, 2)
        self.v = nn.Linear(hidden, 1)
        nn.init.zeros_(self.pi.weight)
        nn.init.zeros_(self.pi.bias)

    def forward(self, s):
        h = self.body(s * SCALE)
        return self.pi(h), self.v(h).squeeze(-1)


@torch.no_grad()
def greedy_length(model, episodes=20, seed=99):
    env = CartPoleBatch(episodes, generator=torch.Generator().manual_seed(seed))
    alive, total = torch.ones(episodes, dtype=torch.bool), torch.zeros(episodes)
    for _ in range(env.limit):
        _, fell, cut, _ = env.step(model(env.state)[0].argmax(1))
        total += alive
        alive &= ~(fell | cut)
    return total.mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=200)
    p.add_argument("--rollout", type=int, default=20)
    p.add_argument("--gamma", type=float, default=0.98)
    p.add_argument("--lam", type=float, default=0.95)
    args = p.parse_args()
    torch.manual_seed(2)

    env = CartPoleBatch(16, generator=torch.Generator().manual_seed(2))
    model = ActorCritic()
    opt = torch.optim.RMSprop(model.parameters(), lr=2e-3, alpha=0.99, eps=1e-5)
    print(f"greedy episode length before training {greedy_length(model):.1f}")
    recent = []
    for update in range(1, args.updates + 1):
        logps, ents, values, advs_in = [], [], [], []
        for _ in range(args.rollout):
            logits, value = model(env.state)
            dist = torch.distributions.Categorical(logits=logits)
            action = dist.sample()
            last, fell, cut, lengths = env.step(action)
            recent = (recent + lengths)[-50:]
            with torch.no_grad():
                nxt = model(last)[1]
                reward = torch.full((env.n,), 0.1)
                # a fall ends the return, a time limit does not: bootstrap from the last state
                delta_target = reward + args.gamma * nxt * (~fell)
            logps.append(dist.log_prob(action))
            ents.append(dist.entropy())
            values.append(value)
            advs_in.append((delta_target, fell | cut))
        adv, advs = torch.zeros(env.n), []
        for value, (target, over) in zip(reversed(values), reversed(advs_in)):
            adv = target - value.detach() + args.gamma * args.lam * adv * (~over)
            advs.append(adv)
        adv = torch.stack(advs[::-1])
        values = torch.stack(values)
        returns = adv + values.detach()
        norm = (adv - adv.mean()) / (adv.std() + 1e-6)
        loss_pi = -(torch.stack(logps) * norm).mean()
        loss_v = F.mse_loss(values, returns)
        loss = loss_pi + 0.5 * loss_v - 0.01 * torch.stack(ents).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
        if update % 50 == 0:
            mean = sum(recent) / max(len(recent), 1)
            print(f"update {update:4d} pi {loss_pi.item():+.3f} v {loss_v.item():.3f} "
                  f"episode length sampled {mean:.1f} greedy {greedy_length(model):.1f}")
    os.makedirs("out", exist_ok=True)
    torch.save(model.state_dict(), "out/pole.pt")


if __name__ == "__main__":
    main()
