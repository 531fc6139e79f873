import argparse

import torch
import torch.nn.functional as F
from torch import nn

# A ticket names the gate where the car came in; the board beside it lists (gate, fare band) for the gates open that day.
# Predict the fare band of the ticket.

parser = argparse.ArgumentParser()
parser.add_argument("--gates", type=int, default=12)
parser.add_argument("--bands", type=int, default=5)
parser.add_argument("--open", type=int, default=6)
parser.add_argument("--steps", type=int, default=700)
parser.add_argument("--lr", type=float, default=3e-3)
args = parser.parse_args()
torch.manual_seed(11)


def sample(n):
    gates = torch.stack([torch.randperm(args.gates)[: args.open] for _ in range(n)])
    bands = torch.randint(0, args.bands, (n, args.open))
    pick = torch.randint(0, args.open, (n, 1))
    return gates.gather(1, pick), gates, bands, bands.gather(1, pick).squeeze(1)


class FareReader(nn.Module):
    def __init__(self, dim=32, heads=2):
        super().__init__()
        self.gate = nn.Embedding(args.gates, dim)
        self.band = nn.Embedding(args.bands + 1, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, dim))
        self.head = nn.Linear(dim, args.bands)

    def forward(self, ticket, gates, bands):
        blank = torch.full_like(ticket, args.bands)
        h = self.gate(torch.cat([ticket, gates], 1)) + self.band(torch.cat([blank, bands], 1))
        n = self.norm1(h)
        mixed, _ = self.attn(n, n, n, need_weights=False)
        h = h + mixed
        h = h + self.mlp(self.norm2(h))
        return self.head(h[:, 0])


train = sample(4000)
test = sample(800)
model = FareReader()
opt = torch.optim.Adam(model.parameters(), lr=args.lr)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.steps)

for step in range(1, args.steps + 1):
    idx = torch.randint(0, 4000, (64,))
    *inputs, y = [t[idx] for t in train]
    loss = F.cross_entropy(model(*inputs), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 100 == 0:
        model.eval()
        with torch.no_grad():
            *inputs, y = test
            acc = (model(*inputs).argmax(1) == y).float().mean().item()
        model.train()
        print(f"step {step:4d}  loss {loss.item():.4f}  test accuracy {acc:.3f}")
