"""Pressure of a pump under four regimes; sparse top-2 experts, load balancing, accumulation over uneven micro batches."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

torch.manual_seed(40)


def pump(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 6, generator=g) * 2 - 1
    regime = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
    a = x[:, 2:]
    y = torch.stack([torch.sin(4 * a[:, 0]) + a[:, 1], 2 * a[:, 0] * a[:, 2], -3 * a[:, 3] + a[:, 1] ** 2, 1 - 2 * a[:, 2].abs()], 1)
    y = y.gather(1, regime[:, None]).squeeze(1)
    return x, 1000 + 250 * (y + 0.05 * torch.randn(n, generator=g)), regime


class Experts(nn.Module):
    def __init__(self, d=6, n=8, hidden=48, top=2):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, n))
        self.w1 = nn.Parameter(torch.randn(n, d, hidden) / d ** 0.5)
        self.b1 = nn.Parameter(torch.zeros(n, hidden))
        self.w2 = nn.Parameter(torch.randn(n, hidden, 1) / hidden ** 0.5)
        self.b2 = nn.Parameter(torch.zeros(n, 1))
        self.n, self.top = n, top

    def bank(self, x):
        h = torch.tanh(torch.einsum("bd,ndh->bnh", x, self.w1) + self.b1)
        return (torch.einsum("bnh,nho->bno", h, self.w2) + self.b2).squeeze(-1)

    def forward(self, x):
        logits = self.gate(x)
        if self.training:
            logits = logits + 0.1 * torch.randn_like(logits)
        prob = logits.softmax(-1)
        v, i = prob.topk(self.top, -1)
        share = torch.zeros_like(prob).scatter(1, i, v / v.sum(-1, keepdim=True))
        out = checkpoint(self.bank, x, use_reentrant=False) if self.training else self.bank(x)
        used = (share > 0).float().mean(0)
        balance = self.n / self.top * (used.detach() * prob.mean(0)).sum()
        return (share * out).sum(-1), balance, used


xtr, ytr, _ = pump(6000, 1)
xte, yte, rte = pump(2000, 2)
mean, std = ytr.mean(), ytr.std()
ztr = (ytr - mean) / std

model = Experts()
decay, rest = [], []
for n, p in model.named_parameters():
    (decay if "w" in n and p.ndim > 1 else rest).append(p)
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 1e-3}, {"params": rest, "weight_decay": 0.0}], lr=1e-2)
EPOCHS, BIG = 50, 200
base = [g["lr"] for g in opt.param_groups]


def set_rate(step, total, warm=50):
    f = step / warm if step < warm else max(0.01, 1 - (step - warm) / (total - warm))
    for g, b in zip(opt.param_groups, base):
        g["lr"] = b * f


@torch.no_grad()
def test():
    model.eval()
    out, _, used = model(xte)
    rmse = ((out * std + mean) - yte).pow(2).mean().sqrt().item()
    model.train()
    return rmse, used


step, total = 0, EPOCHS * (len(xtr) // BIG)
for epoch in range(EPOCHS):
    perm = torch.randperm(len(xtr))
    tally = 0.0
    for start in range(0, len(xtr), BIG):
        chunk = perm[start:start + BIG]
        step += 1
        set_rate(step, total)
        # micro batches of uneven size, each weighed by its share of the rows
        for micro in chunk.split([70, 70, 60]):
            out, balance, _ = model(xtr[micro])
            err = F.mse_loss(out, ztr[micro], reduction="sum") / len(chunk)
            (err + 0.01 * balance * len(micro) / len(chunk)).backward()
            tally += err.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
    if epoch % 5 == 4:
        rmse, used = test()
        print(f"epoch {epoch:2d} train mse {tally / (len(xtr) // BIG):.4f} test rmse {rmse:.1f} kPa (spread {yte.std():.0f}, "
              f"noise 12.5) use {[round(u, 2) for u in used.tolist()]}")
