"""Learn to route delivery vans: an attention policy builds short tours with REINFORCE and a greedy-rollout baseline."""
import argparse
import copy
import math

import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, dim=64, heads=4):
        super().__init__()
        self.inp = nn.Linear(2, dim)
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.query = nn.Linear(2 * dim, dim, bias=False)
        self.key = nn.Linear(dim, dim, bias=False)

    def forward(self, towns, greedy=False):
        b, n, _ = towns.shape
        h = self.enc(self.inp(towns))
        k = self.key(h)
        rows = torch.arange(b)
        seen = torch.zeros(b, n, dtype=torch.bool)
        here = torch.zeros(b, dtype=torch.long)
        seen[rows, here] = True
        tour, logp, ent = [here], torch.zeros(b), torch.zeros(b)
        for _ in range(n - 1):
            q = self.query(torch.cat([h[rows, here], h[:, 0]], -1))
            score = 10 * torch.tanh(torch.einsum("bd,bnd->bn", q, k) / math.sqrt(k.size(-1)))
            dist = Categorical(logits=score.masked_fill(seen, -1e9))
            here = dist.probs.argmax(-1) if greedy else dist.sample()
            logp = logp + dist.log_prob(here)
            ent = ent + dist.entropy()
            seen = seen.scatter(1, here[:, None], True)
            tour.append(here)
        return torch.stack(tour, 1), logp, ent


def length(towns, tour):
    path = towns.gather(1, tour[..., None].expand(-1, -1, 2))
    return (path - path.roll(-1, 1)).norm(dim=-1).sum(1)


def nearest_neighbour(towns):
    b, n, _ = towns.shape
    d = torch.cdist(towns, towns)
    rows, here = torch.arange(b), torch.zeros(b, dtype=torch.long)
    seen = torch.zeros(b, n, dtype=torch.bool)
    tour = [here]
    for _ in range(n - 1):
        seen[rows, here] = True
        here = d[rows, here].masked_fill(seen, 9.0).argmin(-1)
        tour.append(here)
    return length(towns, torch.stack(tour, 1)).mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--towns", type=int, default=8)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--sync", type=int, default=40)
    a = p.parse_args()
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(1234)
    held = torch.rand(500, a.towns, 2, generator=gen)

    policy = Policy()
    rival = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.Adam(policy.parameters(), lr=a.lr)
    with torch.no_grad():
        start = length(held, policy(held, greedy=True)[0]).mean().item()
    for step in range(1, a.steps + 1):
        towns = torch.rand(a.batch, a.towns, 2)
        tour, logp, ent = policy(towns)
        with torch.no_grad():
            cost = length(towns, tour)
            base = length(towns, rival(towns, greedy=True)[0])
            adv = cost - base
        # shorter than the rival means adv < 0, so its log-probability is pushed up
        loss = (adv * logp).mean() - 0.003 * ent.mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        opt.step()
        if step % a.sync == 0:
            with torch.no_grad():
                mine = length(held, policy(held, greedy=True)[0]).mean().item()
                theirs = length(held, rival(held, greedy=True)[0]).mean().item()
            if mine < theirs:
                rival.load_state_dict(policy.state_dict())
            print(f"step {step} loss {loss.item():+.3f} advantage {adv.mean():+.3f} entropy {ent.mean():.2f} fresh tours {mine:.3f}")

    final = torch.rand(1000, a.towns, 2, generator=gen)
    with torch.no_grad():
        got = length(final, policy(final, greedy=True)[0]).mean().item()
    rand = length(final, torch.stack([torch.randperm(a.towns) for _ in range(1000)])).mean().item()
    print(f"held-out mean tour {got:.3f} (untrained {start:.3f}, random {rand:.3f}, nearest neighbour {nearest_neighbour(final):.3f})")


if __name__ == "__main__":
    main()
