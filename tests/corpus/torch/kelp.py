"""Kelp or no kelp on survey tiles: few labels, many unlabelled tiles, a mean teacher."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
g = torch.Generator().manual_seed(9)


def tiles(n):
    y = torch.randint(0, 3, (n,), generator=g)
    u = torch.arange(16).float()
    x = torch.zeros(n, 3, 16, 16)
    for i in range(n):
        phase, freq = 6.28 * torch.rand(2, generator=g)
        wave = torch.sin(u * (0.8 + 0.08 * freq) + phase)
        if y[i] == 0:
            x[i, 1] = wave[:, None].expand(16, 16)
        elif y[i] == 1:
            x[i, 1] = wave[None].expand(16, 16)
        else:
            x[i, 1] = torch.sin((u[:, None] + u[None]) * (0.6 + 0.06 * freq) + phase)
        x[i, 2] = torch.rand(1, generator=g)
    return x + 0.5 * torch.randn(n, 3, 16, 16, generator=g), y


def augment(x):
    x = torch.roll(x, shifts=(int(torch.randint(-3, 4, (1,))), int(torch.randint(-3, 4, (1,)))), dims=(2, 3))
    return x + 0.2 * torch.randn_like(x)


class TileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.GroupNorm(4, 24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(32, 3)

    def forward(self, x):
        return self.out(self.drop(self.features(x)))


x_few, y_few = tiles(90)
x_many, _ = tiles(1200)
x_test, y_test = tiles(400)

student = TileNet()
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
teacher.eval()

optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
EPOCHS, STEPS = 8, 40
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * STEPS)


@torch.no_grad()
def update_teacher(step):
    keep = min(0.98, 1 - 1 / (step + 1))
    for slow, fast in zip(teacher.parameters(), student.parameters()):
        slow.mul_(keep).add_(fast, alpha=1 - keep)


@torch.no_grad()
def accuracy(model):
    was_training = model.training
    model.eval()
    score = (model(x_test).argmax(1) == y_test).float().mean().item()
    model.train(was_training)
    return score


step = 0
student.train()
for epoch in range(EPOCHS):
    sup = con = 0.0
    for _ in range(STEPS):
        few = torch.randint(0, len(x_few), (30,))
        many = torch.randint(0, len(x_many), (60,))
        supervised = F.cross_entropy(student(augment(x_few[few])), y_few[few])
        with torch.no_grad():
            wanted = teacher(augment(x_many[many])).softmax(1)
        consistency = F.mse_loss(student(augment(x_many[many])).softmax(1), wanted)
        weight = 3.0 * min(1.0, step / 150)
        loss = supervised + weight * consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        step += 1
        update_teacher(step)
        sup += supervised.item()
        con += consistency.item()
    print(f"epoch {epoch + 1} supervised {sup / STEPS:.3f} consistency {con / STEPS:.4f} "
          f"student {accuracy(student):.3f} teacher {accuracy(teacher):.3f}")
