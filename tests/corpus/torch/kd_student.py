"""Distil a big digit classifier into a small one for the hand-held scanner.

The teacher was trained on the cleaned archive.  The student only gets the scans from the
field, whose labels come from untrained annotators and are often off.
"""
import argparse
import time

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.nn import functional as F


def get_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--temperature", type=float, default=10.0)
    ap.add_argument("--alpha", type=float, default=0.6, help="weight of the soft targets")
    ap.add_argument("--label-noise", type=float, default=0.55)
    ap.add_argument("--epochs", type=int, default=80)
    ap.add_argument("--lr", type=float, default=0.1)
    ap.add_argument("--seed", type=int, default=5)
    return ap.parse_args()


def batches(n, size, gen):
    perm = torch.randperm(n, generator=gen)
    return [perm[i:i + size] for i in range(0, n - size // 2, size)]


class Teacher(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Unflatten(1, (1, 8, 8)),
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Dropout(0.3), nn.Linear(48 * 16, 10))


class Student(nn.Sequential):
    def __init__(self, hidden=64):
        super().__init__(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))


@torch.no_grad()
def accuracy(net, x, y):
    mode = net.training
    net.eval()
    acc = (net(x).argmax(1) == y).float().mean().item()
    net.train(mode)
    return acc


def train_teacher(x, y, gen):
    net = Teacher()
    opt = optim.AdamW(net.parameters(), lr=2e-3)
    for _ in range(15):
        for idx in batches(len(x), 64, gen):
            loss = F.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net.eval().requires_grad_(False)


def distill_loss(student_logits, teacher_logits, labels, T, alpha):
    soft = F.kl_div(F.log_softmax(student_logits / T, dim=1),
                    F.softmax(teacher_logits / T, dim=1),
                    reduction="batchmean")
    hard = F.cross_entropy(student_logits, labels)
    return alpha * soft + (1.0 - alpha) * hard


def train_student(x, y, teacher, args, gen, x_val, y_val, alpha=None):
    torch.manual_seed(args.seed)
    alpha = args.alpha if alpha is None else alpha
    net = Student()
    opt = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    sched = optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    teacher_logits = teacher(x)
    for epoch in range(args.epochs):
        total = 0.0
        for idx in batches(len(x), 32, gen):
            loss = distill_loss(net(x[idx]), teacher_logits[idx], y[idx], args.temperature, alpha)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        sched.step()
        if epoch % 20 == 19:
            print(f"  epoch {epoch + 1:3d}  loss {total / len(x):.4f}  val acc {accuracy(net, x_val, y_val):.3f}")
    return net


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    data = load_digits()
    order = rng.permutation(len(data.data))
    x = torch.tensor(data.data[order] / 16.0, dtype=torch.float32)
    y = torch.tensor(data.target[order])
    x_arch, y_arch = x[:700], y[:700]
    x_field, y_field = x[700:1200], y[700:1200].clone()
    x_test, y_test = x[1200:], y[1200:]
    flip = torch.from_numpy(rng.random(len(y_field)) < args.label_noise)
    y_field[flip] = torch.from_numpy(rng.integers(0, 10, int(flip.sum())))

    t0 = time.time()
    teacher = train_teacher(x_arch, y_arch, gen)
    print(f"teacher test acc {accuracy(teacher, x_test, y_test):.3f} ({time.time() - t0:.1f}s)")
    print("student, labels only:")
    plain = train_student(x_field, y_field, teacher, args, gen, x_test, y_test, alpha=0.0)
    print("student, distilled:")
    student = train_student(x_field, y_field, teacher, args, gen, x_test, y_test)
    print(f"test acc: labels only {accuracy(plain, x_test, y_test):.3f}, "
          f"distilled {accuracy(student, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
