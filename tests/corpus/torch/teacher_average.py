import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(0)


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(),
        nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(48 * 16, 10),
    )


def jitter(x):
    dx, dy = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(x, (dx, dy), dims=(2, 3)) + 0.1 * torch.randn_like(x)


class MeanTeacher:
    def __init__(self, decay=0.98, weight=3.0, lr=2e-3):
        self.student = make_net()
        self.teacher = copy.deepcopy(self.student)
        for p in self.teacher.parameters():
            p.requires_grad_(False)
        self.decay, self.weight = decay, weight
        self.opt = torch.optim.Adam(self.student.parameters(), lr=lr)

    @torch.no_grad()
    def update_teacher(self):
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.mul_(self.decay).add_(s, alpha=1 - self.decay)

    def step(self, xl, yl, xu, ramp):
        supervised = F.cross_entropy(self.student(jitter(xl)), yl)
        with torch.no_grad():
            goal = self.teacher(jitter(xu)).softmax(1)
        consistency = F.mse_loss(self.student(jitter(xu)).softmax(1), goal)
        loss = supervised + ramp * self.weight * consistency
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.update_teacher()
        return supervised.item(), consistency.item()

    @torch.no_grad()
    def accuracy(self, x, y):
        self.teacher.eval()
        return (self.teacher(x).argmax(1) == y).float().mean().item()


def main():
    digits = load_digits()
    x = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(digits.target)
    pool, test = train_test_split(range(len(y)), test_size=0.3, stratify=digits.target, random_state=1)
    labelled, unlabelled = train_test_split(pool, train_size=100, stratify=digits.target[pool], random_state=1)
    xl, yl, xu = x[labelled], y[labelled], x[unlabelled]

    trainer = MeanTeacher()
    steps = 500
    for step in range(1, steps + 1):
        trainer.student.train()
        trainer.teacher.train()
        i = torch.randint(len(xl), (32,))
        j = torch.randint(len(xu), (96,))
        sup, cons = trainer.step(xl[i], yl[i], xu[j], ramp=min(1.0, step / 200))
        if step % 100 == 0:
            print(f"step {step}  supervised {sup:.4f}  consistency {cons:.5f}  "
                  f"teacher accuracy {trainer.accuracy(x[test], y[test]):.3f}")
    print(f"final teacher accuracy {trainer.accuracy(x[test], y[test]):.3f} with {len(xl)} labels")


if __name__ == "__main__":
    main()
