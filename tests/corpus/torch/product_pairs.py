"""Contrastive two-tower matching of product titles and feature vectors, learned temperature, EMA weights."""
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(31)
N_WORDS, N_ATTR, LATENT, TITLE = 300, 30, 8, 10
word_dir = torch.randn(N_WORDS, LATENT)
attr_mix = torch.randn(LATENT, N_ATTR) / LATENT ** 0.5


def products(n):
    z = torch.randn(n, LATENT)
    title = torch.multinomial((1.2 * z @ word_dir.T).softmax(1), TITLE, replacement=True)
    attrs = torch.tanh(z @ attr_mix) + 0.1 * torch.randn(n, N_ATTR)
    return title, attrs


class TwoTower(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.words = nn.EmbeddingBag(N_WORDS, 64, mode="mean")
        self.title = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, d))
        self.attrs = nn.Sequential(nn.Linear(N_ATTR, 64), nn.GELU(), nn.Linear(64, d))
        self.log_scale = nn.Parameter(torch.tensor(math.log(10.0)))

    def forward(self, title, attrs):
        a = F.normalize(self.title(self.words(title)), dim=1)
        b = F.normalize(self.attrs(attrs), dim=1)
        return a @ b.T * self.log_scale.exp().clamp(max=100)


@torch.no_grad()
def ema_update(avg, net, decay):
    for p, q in zip(avg.parameters(), net.parameters()):
        p.lerp_(q, 1 - decay)


@torch.no_grad()
def recall_at(net, title, attrs, k):
    top = net(title, attrs).topk(k, 1).indices
    return (top == torch.arange(len(title))[:, None]).any(1).float().mean().item()


title, attrs = products(12000)
test_title, test_attrs = products(500)
net = TwoTower()
avg = copy.deepcopy(net).requires_grad_(False)
decay_group = [p for n, p in net.named_parameters() if p.ndim > 1]
rest = [p for n, p in net.named_parameters() if p.ndim <= 1]
opt = torch.optim.AdamW([{"params": decay_group, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}], lr=4e-3)
EPOCHS, BATCH = 30, 200
total = EPOCHS * len(title) // BATCH
sched = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: min(1, (s + 1) / 100) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * s / total))))

for epoch in range(EPOCHS):
    losses = []
    for idx in torch.randperm(len(title)).split(BATCH):
        logits = net(title[idx], attrs[idx])
        gold = torch.arange(len(idx))
        loss = (F.cross_entropy(logits, gold) + F.cross_entropy(logits.T, gold)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        ema_update(avg, net, 0.99)
        losses.append(loss.item())
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d} loss {sum(losses) / len(losses):.3f} scale {net.log_scale.exp().item():.1f} "
              f"recall@10 of 500: {recall_at(net, test_title, test_attrs, 10):.3f} "
              f"averaged {recall_at(avg, test_title, test_attrs, 10):.3f}")
