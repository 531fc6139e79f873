"""Behaviour cloning of a T-maze expert with a recurrent policy (after Bakker 2002, "RL with LSTM").

Observation: [cue_left, cue_right, in_corridor, at_junction] + noise. The cue is only visible at t=0.
Actions: 0 forward, 1 left, 2 right.
"""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

FORWARD, LEFT, RIGHT = 0, 1, 2


class TMaze:
    def __init__(self, length, rng):
        self.length = length
        self.rng = rng

    def reset(self):
        self.t = 0
        self.goal = LEFT if self.rng.random() < 0.5 else RIGHT
        return self._obs()

    def _obs(self):
        o = self.rng.normal(0, 0.1, 4)
        if self.t == 0:
            o[0 if self.goal == LEFT else 1] += 1.0
        elif self.t < self.length:
            o[2] += 1.0
        else:
            o[3] += 1.0
        return o.astype(np.float32)

    def expert(self):
        return self.goal if self.t == self.length else FORWARD

    def step(self, action):
        if self.t == self.length:
            return None, float(action == self.goal), True
        self.t += int(action == FORWARD)
        return self._obs(), 0.0, False


def collect(env, n):
    obs, act = [], []
    for _ in range(n):
        o, done, eo, ea = env.reset(), False, [], []
        while not done:
            a = env.expert()
            eo.append(o)
            ea.append(a)
            o, _, done = env.step(a)
        obs.append(np.stack(eo))
        act.append(ea)
    return torch.from_numpy(np.stack(obs)), torch.tensor(act)


class RecurrentPolicy(nn.Module):
    def __init__(self, obs_dim=4, hidden=32, n_actions=3):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.core = nn.GRU(hidden, hidden)
        self.pi = nn.Linear(hidden, n_actions)

    def forward(self, obs):
        out, _ = self.core(self.embed(obs))
        return self.pi(out)


def junction_accuracy(policy, obs, act):
    policy.eval()
    with torch.no_grad():
        pred = policy(obs).argmax(-1)
    return (pred == act).float().mean().item(), (pred[:, -1] == act[:, -1]).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--length", type=int, default=9)
    ap.add_argument("--demos", type=int, default=800)
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--batch", type=int, default=40)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    random.seed(0)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = TMaze(args.length, rng)
    train_o, train_a = collect(env, args.demos)
    test_o, test_a = collect(env, 200)

    policy = RecurrentPolicy()
    optim = torch.optim.Adam(policy.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        policy.train()
        perm = torch.randperm(len(train_o))
        losses = []
        for chunk in perm.split(args.batch):
            logits = policy(train_o[chunk])
            loss = F.cross_entropy(logits.reshape(-1, 3), train_a[chunk].reshape(-1))
            optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optim.step()
            losses.append(loss.item())
        step_acc, turn_acc = junction_accuracy(policy, test_o, test_a)
        print(f"epoch {epoch:2d} loss {np.mean(losses):.4f} step acc {step_acc:.3f} turn acc {turn_acc:.3f}")


if __name__ == "__main__":
    main()
