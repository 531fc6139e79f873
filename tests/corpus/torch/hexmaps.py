# spill detector on hex-cell maps: 3 % positive cells, rows stored sorted by class, balanced draw, focal loss, large sums
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(9)
rng = np.random.default_rng(9)


def cells(n_neg, n_pos):
    clean = rng.normal(0, 1, (n_neg, 14))
    spill = rng.normal(0, 1, (n_pos, 14))
    spill[:, :4] += 1.8
    spill[:, 4] *= 2.5
    x = np.concatenate([clean, spill]).astype("float32")
    y = np.repeat([0.0, 1.0], [n_neg, n_pos]).astype("float32")
    return torch.from_numpy(x), torch.from_numpy(y)


def focal(logit, y, gamma=2.0):
    """Summed over the batch, divided by the number of positives (as in RetinaNet)."""
    ce = F.binary_cross_entropy_with_logits(logit, y, reduction="none")
    p_true = torch.exp(-ce)
    return ((1 - p_true) ** gamma * ce).sum() / y.sum().clamp_min(1)


class Gate(nn.Module):
    """Two branches, one of which starts as zero (a residual branch that fades in)."""

    def __init__(self, n_in, width):
        super().__init__()
        self.linear = nn.Linear(n_in, 1)
        self.branch = nn.Sequential(nn.Linear(n_in, width), nn.LeakyReLU(0.1), nn.Dropout(0.3), nn.Linear(width, 1))
        nn.init.zeros_(self.branch[-1].weight)
        nn.init.constant_(self.linear.bias, -np.log(0.8 / 0.2))

    def forward(self, x):
        return (self.linear(x) + self.branch(x)).squeeze(1)


def average_precision(score, y):
    hit = y[score.argsort(descending=True)]
    precision = hit.cumsum(0) / torch.arange(1, len(hit) + 1)
    return (precision * hit).sum().item() / hit.sum().item()


x, y = cells(3880, 120)
xt, yt = cells(1940, 60)
weights = torch.where(y == 1, 8.0, 1.0)
sampler = WeightedRandomSampler(weights, num_samples=len(y), replacement=True)
loader = DataLoader(TensorDataset(x, y), batch_size=40, sampler=sampler)

net = Gate(14, 64)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.05, total_steps=12 * (len(loader) // 4))
opt.zero_grad()
for epoch in range(12):
    net.train()
    seen = 0.0
    for i, (xb, yb) in enumerate(loader):
        loss = focal(net(xb), yb) / 4
        loss.backward()
        seen += loss.item() * 4
        if i % 4 == 3:  # four small batches per step
            nn.utils.clip_grad_value_(net.parameters(), 1.0)
            opt.step()
            sched.step()
            opt.zero_grad()
    net.eval()
    with torch.no_grad():
        logit = net(xt)
    if epoch % 3 == 2:
        recall = (logit[yt == 1] > 0).float().mean().item()
        print(f"epoch {epoch + 1} loss {seen / len(loader):.3f} AP {average_precision(logit, yt):.3f} recall {recall:.3f}")
