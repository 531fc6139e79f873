import copy
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


@dataclass
class Plan:
    labelled_per_class: int = 8
    steps: int = 600
    batch_labelled: int = 20
    batch_free: int = 80
    lr: float = 2e-3
    ema: float = 0.97
    max_weight: float = 20.0
    ramp: int = 250


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.GroupNorm(4, 24), nn.ReLU(),
            nn.Conv2d(24, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.GroupNorm(4, 48), nn.ReLU(), nn.Flatten(),
            nn.Dropout(0.3), nn.Linear(48 * 16, 10))

    def forward(self, x):
        return self.net(x)


def perturb(x):
    dx, dy = torch.randint(-1, 2, (2,)).tolist()
    x = torch.roll(x, (dy, dx), dims=(2, 3))
    return x * (0.9 + 0.2 * torch.rand(len(x), 1, 1, 1)) + 0.1 * torch.randn_like(x)


class MeanTeacher:
    def __init__(self, plan):
        self.plan = plan
        self.student = Student()
        self.teacher = copy.deepcopy(self.student)
        self.teacher.requires_grad_(False)
        self.opt = torch.optim.AdamW(self.student.parameters(), lr=plan.lr, weight_decay=1e-2)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, plan.steps)

    def weight(self, step):
        return self.plan.max_weight * math.exp(-5 * (1 - min(1.0, step / self.plan.ramp)) ** 2)

    def step(self, i, x, y, free):
        n = len(x)
        everything = torch.cat([x, free])
        logits = self.student(perturb(everything))
        with torch.no_grad():
            wanted = self.teacher(perturb(everything)).softmax(1)
        supervised = F.cross_entropy(logits[:n], y)
        consistency = F.mse_loss(logits.softmax(1), wanted)
        loss = supervised + self.weight(i) * consistency
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.student.parameters(), 3.0)
        self.opt.step()
        self.sched.step()
        with torch.no_grad():
            decay = min(self.plan.ema, 1 - 1 / (i + 1))
            for t, s in zip(self.teacher.parameters(), self.student.parameters()):
                t.lerp_(s, 1 - decay)
        return supervised.item(), consistency.item()


@torch.no_grad()
def accuracy(model, x, y):
    was = model.training
    model.eval()
    acc = (model(x).argmax(1) == y).float().mean().item()
    model.train(was)
    return acc


def few_of_each(y, k):
    return torch.cat([(y == c).nonzero().flatten()[:k] for c in range(10)])


def main():
    plan = Plan()
    torch.manual_seed(3)
    data = load_digits()
    x = torch.tensor(data.images, dtype=torch.float32)[:, None] / 8 - 1
    y = torch.tensor(data.target)
    perm = torch.randperm(len(x))
    x, y = x[perm], y[perm]
    test_x, test_y, x, y = x[:500], y[:500], x[500:], y[500:]
    few = few_of_each(y, plan.labelled_per_class)
    run = MeanTeacher(plan)
    run.student.train(), run.teacher.train()
    for i in range(plan.steps):
        pick = few[torch.randint(len(few), (plan.batch_labelled,))]
        free = torch.randint(len(x), (plan.batch_free,))
        sup, con = run.step(i, x[pick], y[pick], x[free])
        if i % 100 == 99:
            print(f"step {i + 1} supervised {sup:.4f} consistency {con:.5f} "
                  f"student {accuracy(run.student, test_x, test_y):.3f} teacher {accuracy(run.teacher, test_x, test_y):.3f}")


if __name__ == "__main__":
    main()
