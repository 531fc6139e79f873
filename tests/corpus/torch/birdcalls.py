import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description="Which species call in a one second clip?")
parser.add_argument("--clips", type=int, default=1600)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--drop", type=float, default=0.6)
parser.add_argument("--seed", type=int, default=11)
args = parser.parse_args()

SPECIES = {"wren": (40.0, 30.0), "tit": (70.0, -25.0), "owl": (12.0, 4.0), "finch": (95.0, 40.0), "crow": (24.0, -10.0)}
LENGTH = 512


def synth_clips(n, gen):
    t = torch.linspace(0, 1, LENGTH)
    present = (torch.rand(n, len(SPECIES), generator=gen) < 0.35).float()
    clips = 1.1 * torch.randn(n, LENGTH, generator=gen)
    for k, (f0, sweep) in enumerate(SPECIES.values()):
        onset = torch.rand(n, 1, generator=gen) * 0.6
        phase = torch.rand(n, 1, generator=gen) * 2 * math.pi
        local = (t[None] - onset).clamp(min=0)
        env = torch.where((local > 0) & (local < 0.4), torch.sin(local * math.pi / 0.4), torch.zeros(()))
        chirp = env * torch.sin(2 * math.pi * (f0 * local + 0.5 * sweep * local**2) + phase)
        clips += present[:, k : k + 1] * 1.5 * chirp
    return clips[:, None, :], present


class CallNet(nn.Module):
    def __init__(self, n_out, width=24, drop=0.4):
        super().__init__()
        sizes = [1, width, width, 2 * width]
        self.convs = nn.ModuleList(nn.Conv1d(a, b, 9, padding=4) for a, b in zip(sizes, sizes[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm1d(b) for b in sizes[1:])
        self.head = nn.Linear(2 * width, n_out)
        self.drop = drop

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms):
            x = F.max_pool1d(F.relu(norm(conv(x))), 4)
        x = x.mean(-1) + x.amax(-1)
        x = F.dropout(x, self.drop)
        return self.head(x)


def score(model, loader):
    model.eval()
    tp = fp = fn = exact = n = 0
    total = 0.0
    with torch.no_grad():
        for clip, target in loader:
            logits = model(clip)
            total += F.binary_cross_entropy_with_logits(logits, target).item() * len(clip)
            pred = (logits > 0).float()
            tp += (pred * target).sum().item()
            fp += (pred * (1 - target)).sum().item()
            fn += ((1 - pred) * target).sum().item()
            exact += (pred == target).all(1).sum().item()
            n += len(clip)
    return total / n, 2 * tp / max(2 * tp + fp + fn, 1), exact / n


gen = torch.Generator().manual_seed(args.seed)
torch.manual_seed(args.seed)
train_set = TensorDataset(*synth_clips(args.clips, gen))
test_set = TensorDataset(*synth_clips(500, gen))
train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
test_loader = DataLoader(test_set, batch_size=250)

model = CallNet(len(SPECIES), drop=args.drop)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
for epoch in range(args.epochs):
    model.train()
    running = 0.0
    for clip, target in train_loader:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(clip), target)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(clip)
    scheduler.step()
    val_loss, f1, exact = score(model, test_loader)
    print(f"epoch {epoch:2d} train {running / args.clips:.4f} val {val_loss:.4f} f1 {f1:.3f} exact {exact:.3f}")

clip, target = next(iter(test_loader))
with torch.no_grad():
    first, second = model(clip).sigmoid() > 0.5, model(clip).sigmoid() > 0.5
print(f"clips with the same answer when scored again: {(first == second).all(1).float().mean():.3f}")
print(f"final: loss {val_loss:.4f} micro-F1 {f1:.3f} exact match {exact:.3f}")
