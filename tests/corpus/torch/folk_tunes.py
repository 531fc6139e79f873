"""Next-note model for folk tunes: causal attention (time-major), tied output weights, Lion, accumulation."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(41)
gen = torch.Generator().manual_seed(41)
N_NOTES, BOS, LEN, DIM = 24, 24, 33, 64


def tune():
    """AABA form: the motif comes back twice, so long context pays off."""
    key = int(torch.randint(0, 8, (1,), generator=gen))
    motif = torch.cumsum(torch.randint(-2, 3, (8,), generator=gen), 0)
    middle = torch.cumsum(torch.randint(-2, 3, (8,), generator=gen), 0)
    notes = torch.cat([motif, motif, middle, motif]) + key + 8
    slip = torch.rand(32, generator=gen) < 0.04
    notes[slip] += torch.randint(-1, 2, (int(slip.sum()),), generator=gen)
    return torch.cat([torch.tensor([BOS]), notes.clamp(0, N_NOTES - 1)])


data = torch.stack([tune() for _ in range(4600)])
train, test = data[:4000], data[4000:]


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads)          # (time, batch, features)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, future):
        q = self.n1(x)
        x = x + self.attn(q, q, q, attn_mask=future, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class TuneModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.notes = nn.Embedding(N_NOTES + 1, DIM)
        self.place = nn.Embedding(LEN, DIM)
        self.blocks = nn.ModuleList([Block(DIM, 4) for _ in range(2)])
        self.norm = nn.LayerNorm(DIM)
        self.bias = nn.Parameter(torch.zeros(N_NOTES + 1))
        nn.init.normal_(self.notes.weight, std=0.15)
        nn.init.normal_(self.place.weight, std=0.15)

    def forward(self, ids):                                    # ids: (batch, time)
        ids = ids.t()
        t = ids.size(0)
        x = self.notes(ids) + self.place.weight[:t, None]
        future = torch.ones(t, t, dtype=torch.bool).triu(1)
        for block in self.blocks:
            x = block(x, future)
        x = self.norm(x)
        return (x @ self.notes.weight.t() + self.bias).transpose(0, 1)


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=3e-4, betas=(0.9, 0.98), weight_decay=0.01):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                update = (b1 * m + (1 - b1) * p.grad).sign_()
                p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(update, alpha=group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


def nll(model, x):
    logits = model(x[:, :-1])
    return F.cross_entropy(logits.reshape(-1, N_NOTES + 1), x[:, 1:].reshape(-1))


@torch.no_grad()
def report(model):
    model.eval()
    loss = nll(model, test).item()
    hit = (model(test[:, :-1]).argmax(-1) == test[:, 1:])[:, 8:].float().mean().item()
    model.train()
    return loss, hit


model = TuneModel()
opt = Lion(model.parameters(), lr=1e-3)
ACCUM, STEPS = 2, 350
warm = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: min(1, (s + 1) / 30) * 0.5 * (1 + math.cos(math.pi * s / STEPS)))

for step in range(STEPS):
    opt.zero_grad()
    for _ in range(ACCUM):
        batch = train[torch.randint(0, len(train), (32,), generator=gen)]
        loss = nll(model, batch) / ACCUM
        loss.backward()
    opt.step()
    warm.step()
    if step % 70 == 69:
        l, h = report(model)
        print(f"update {step + 1}: train {loss.item() * ACCUM:.3f}  test nll {l:.3f}  hit rate after bar 1 {h:.3f}")

freq = torch.bincount(train[:, 1:].reshape(-1), minlength=N_NOTES + 1).float() + 1
unigram = F.cross_entropy((freq / freq.sum()).log().expand(test[:, 1:].numel(), -1), test[:, 1:].reshape(-1)).item()
bigram = torch.ones(N_NOTES + 1, N_NOTES + 1)
bigram.index_put_((train[:, :-1].reshape(-1), train[:, 1:].reshape(-1)), torch.tensor(1.0), accumulate=True)
lp = (bigram / bigram.sum(1, keepdim=True)).log()[test[:, :-1].reshape(-1)]
print(f"test nll: model {report(model)[0]:.3f}, bigram table {F.nll_loss(lp, test[:, 1:].reshape(-1)).item():.3f}, "
      f"unigram {unigram:.3f}")
