"""Digits with 150 labels; the rest is used through a mean teacher (labels set to -1)."""
import copy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32) / 8 - 1
y = torch.tensor(y)
perm = torch.randperm(len(y))
tr, te = perm[:1400], perm[1400:]
seen = y[tr].clone()
seen[150:] = -1

labelled = DataLoader(TensorDataset(X[tr[:150]], seen[:150]), batch_size=16, shuffle=True, drop_last=True)
everything = DataLoader(TensorDataset(X[tr], seen), batch_size=64, shuffle=True)

student = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
teacher = copy.deepcopy(student).requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), lr=1e-3)


def noisy(x):
    return x + 0.3 * torch.randn_like(x)


def ema_update(decay):
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.mul_(decay).add_(s, alpha=1 - decay)


step = 0
for epoch in range(30):
    small = iter(labelled)
    for xu, yu in everything:
        batch = next(small, None)
        if batch is None:
            small = iter(labelled)
            batch = next(small)
        x = torch.cat([batch[0], xu])
        target = torch.cat([batch[1], yu])
        out = student(noisy(x))
        goal = teacher(noisy(x)).softmax(-1)
        supervised = nn.functional.cross_entropy(out, target, ignore_index=-1)
        agree = (out.softmax(-1) - goal).square().sum(-1).mean()
        ramp = min(1.0, step / 200)
        loss = supervised + 3.0 * ramp * agree
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        step += 1
        ema_update(min(0.98, step / (step + 10)))
    if epoch % 5 == 4:
        with torch.no_grad():
            accs = [(m(X[te]).argmax(1) == y[te]).float().mean().item() for m in (student, teacher)]
        print(f"epoch {epoch + 1} sup {supervised.item():.3f} agree {agree.item():.4f} student {accs[0]:.3f} teacher {accs[1]:.3f}")
