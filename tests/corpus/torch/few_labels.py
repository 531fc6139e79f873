"""Mean teacher on digits with 60 labelled images."""
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(8)

raw = load_digits()
images = torch.tensor(raw.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(raw.target)
shuffle = torch.randperm(len(labels))
images, labels = images[shuffle], labels[shuffle]
pool_x, pool_y = images[:1400], labels[:1400]
test_x, test_y = images[1400:], labels[1400:]
known = torch.cat([(pool_y == d).nonzero().flatten()[:6] for d in range(10)])


def jitter(x):
    dy, dx = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(x, (dy, dx), (2, 3)) + 0.1 * torch.randn_like(x)


def build():
    return nn.Sequential(
        nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(48 * 4, 10),
    )


student = build()
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)


@torch.no_grad()
def follow(decay):
    for slow, fast in zip(teacher.parameters(), student.parameters()):
        slow.mul_(decay).add_(fast, alpha=1 - decay)
    for slow, fast in zip(teacher.buffers(), student.buffers()):
        slow.copy_(fast)


@torch.no_grad()
def score(net):
    net.eval()
    value = (net(test_x).argmax(1) == test_y).float().mean().item()
    net.train()
    return value


optimizer = torch.optim.AdamW(student.parameters(), lr=2e-3, weight_decay=1e-3)
STEPS, RAMP = 700, 300
for step in range(STEPS):
    pick = known[torch.randint(0, len(known), (20,))]
    rest = torch.randint(0, len(pool_x), (64,))
    supervised = F.cross_entropy(student(jitter(pool_x[pick])), pool_y[pick])
    with torch.no_grad():
        target = teacher(jitter(pool_x[rest])).softmax(-1)
    consistency = F.mse_loss(student(jitter(pool_x[rest])).softmax(-1), target)
    weight = 10.0 * min(1.0, step / RAMP)
    loss = supervised + weight * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    follow(min(0.98, 1 - 1 / (step + 2)))
    if (step + 1) % 100 == 0:
        print(f"{step + 1:4d}  supervised {supervised.item():.3f}  consistency {consistency.item():.4f}  "
              f"student {score(student):.3f}  teacher {score(teacher):.3f}")
