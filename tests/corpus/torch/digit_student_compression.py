"""Compress a CNN digit reader into a tiny student with soft targets + an intermediate feature match.

Feature maps of both networks are read through forward hooks.
"""
import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--teacher-epochs", type=int, default=12)
    p.add_argument("--student-epochs", type=int, default=15)
    p.add_argument("--temperature", type=float, default=4.0)
    p.add_argument("--alpha", type=float, default=0.7)
    p.add_argument("--beta", type=float, default=0.5)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


class Reader(nn.Module):
    def __init__(self, width, hidden, p=0.3):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.body = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(width, width * 2, 3, padding=1),
                                  nn.BatchNorm2d(width * 2), nn.ReLU())
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(p), nn.Linear(width * 2 * 16, hidden),
                                  nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


class FeatureTap:
    """Keeps the newest output of one module. Registered once, overwritten by each forward."""

    def __init__(self, module):
        self.value = None
        self.handle = module.register_forward_hook(self._store)

    def _store(self, module, inputs, output):
        self.value = output

    def close(self):
        self.handle.remove()
        self.value = None


def attention_map(feat):
    return F.normalize(feat.pow(2).mean(1).flatten(1), dim=1)


@torch.no_grad()
def accuracy(model, loader):
    was = model.training
    model.eval()
    hit = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train(was)
    return hit / len(loader.dataset)


def main():
    a = get_args()
    torch.manual_seed(a.seed)
    x, y = load_digits(return_X_y=True)
    x = (x.reshape(-1, 1, 8, 8) / 16.0).astype(np.float32)
    xtr, xte, ytr, yte = train_test_split(x, y, test_size=0.3, stratify=y, random_state=a.seed)
    train = TensorDataset(torch.from_numpy(xtr), torch.from_numpy(ytr))
    test = TensorDataset(torch.from_numpy(xte), torch.from_numpy(yte))
    train_dl = DataLoader(train, batch_size=64, shuffle=True)
    test_dl = DataLoader(test, batch_size=256)

    teacher = Reader(24, 96)
    opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
    for _ in range(a.teacher_epochs):
        for xb, yb in train_dl:
            opt.zero_grad()
            F.cross_entropy(teacher(xb), yb).backward()
            opt.step()
    print(f"teacher  test acc {accuracy(teacher, test_dl):.4f}")

    teacher.eval()
    for p in teacher.parameters():
        p.requires_grad_(False)

    student = Reader(4, 16, p=0.0)
    tap_t, tap_s = FeatureTap(teacher.body), FeatureTap(student.body)
    opt = torch.optim.AdamW(student.parameters(), lr=5e-3, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, total_steps=a.student_epochs * len(train_dl))
    T = a.temperature
    for epoch in range(a.student_epochs):
        student.train()
        t0, run = time.time(), 0.0
        for xb, yb in train_dl:
            with torch.no_grad():
                soft = F.softmax(teacher(xb) / T, dim=1)
            logits = student(xb)
            kd = F.kl_div(F.log_softmax(logits / T, dim=1), soft, reduction="batchmean") * T * T
            at = (attention_map(tap_s.value) - attention_map(tap_t.value)).pow(2).sum(1).mean()
            loss = a.alpha * kd + (1 - a.alpha) * F.cross_entropy(logits, yb) + a.beta * at
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            run += loss.item() * len(xb)
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:2d} loss {run / len(train):.4f} ({time.time() - t0:.1f}s)")
    tap_t.close()
    tap_s.close()
    n_s = sum(p.numel() for p in student.parameters())
    n_t = sum(p.numel() for p in teacher.parameters())
    print(f"student ({n_s} of {n_t} parameters) test acc {accuracy(student, test_dl):.4f}; "
          f"majority {np.bincount(yte).max() / len(yte):.4f}")


if __name__ == "__main__":
    main()
