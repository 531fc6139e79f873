"""Batch-hard triplet training of writer embeddings from pen-stroke features."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
WRITERS, FEAT, PER = 20, 48, 8
style = torch.randn(WRITERS, 10)
mix = nn.Sequential(nn.Linear(20, 96), nn.Tanh(), nn.Linear(96, FEAT))
for p in mix.parameters():
    p.requires_grad_(False)
    p.mul_(2.0)


def strokes(writer_ids):
    n = len(writer_ids)
    content = torch.randn(n, 10) * 1.2
    z = torch.cat([style[writer_ids], content], 1)
    return mix(z) + 0.05 * torch.randn(n, FEAT)


def sample_batch(n_writers=10):
    w = torch.randperm(WRITERS)[:n_writers].repeat_interleave(PER)
    return strokes(w), w


def distances(e):
    sq = (e[:, None, :] - e[None, :, :]).pow(2).sum(-1)
    return torch.sqrt(sq + 1e-8)


def batch_hard(e, w, margin=0.3):
    d = distances(e)
    same = w[:, None] == w[None, :]
    far_pos = (d * same).max(1).values
    near_neg = d.masked_fill(same, float("inf")).min(1).values
    return F.relu(far_pos - near_neg + margin).mean()


def soft_pull(e, w):
    d = distances(e)
    same = (w[:, None] == w[None, :]).float()
    return (d * same).sum() / same.sum()


net = nn.Sequential(nn.Linear(FEAT, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 16))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)


@torch.no_grad()
def recall_at_1():
    net.eval()
    w = torch.arange(WRITERS).repeat_interleave(12)
    e = F.normalize(net(strokes(w)), dim=1)
    d = torch.cdist(e, e)
    d.fill_diagonal_(1e9)
    net.train()
    return (w[d.argmin(1)] == w).float().mean().item()


print("recall before training", round(recall_at_1(), 3))
for it in range(1, 2501):
    x, w = sample_batch()
    e = F.normalize(net(x), dim=1)
    loss = batch_hard(e, w) + 0.1 * soft_pull(e, w)
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
    if it % 250 == 0:
        print(f"iter {it:5d} loss {loss.item():.4f} recall@1 {recall_at_1():.3f}")
