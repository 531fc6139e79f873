"""Distil a wide teacher for the digits set into a tiny student."""
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Settings:
    teacher_epochs: int = 15
    student_epochs: int = 25
    lr: float = 2e-3
    temperature: float = 3.0
    mix: float = 0.7
    clip: float = 1.0
    batch: int = 64


def mlp(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 10))


def load():
    digits = load_digits()
    x = torch.tensor(digits.data / 16.0, dtype=torch.float32)
    y = torch.tensor(digits.target)
    return train_test_split(x, y, test_size=0.25, random_state=1, stratify=y)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def train_teacher(model, loader, cfg):
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for _ in range(cfg.teacher_epochs):
        model.train()
        for xb, yb in loader:
            opt.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
    return model


def distill_loss(student_logits, teacher_logits, target, cfg):
    t = cfg.temperature
    soft = F.kl_div(
        F.log_softmax(student_logits / t, dim=1),
        F.softmax(teacher_logits / t, dim=1),
        reduction="batchmean",
    ) * t * t
    return cfg.mix * soft + (1 - cfg.mix) * F.cross_entropy(student_logits, target)


def train_student(student, teacher, loader, valid, cfg):
    opt = torch.optim.AdamW(student.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=cfg.student_epochs)
    teacher.eval()
    for epoch in range(cfg.student_epochs):
        student.train()
        total = 0.0
        for xb, yb in loader:
            with torch.no_grad():
                guide = teacher(xb)
            loss = distill_loss(student(xb), guide, yb, cfg)
            opt.zero_grad()
            nn.utils.clip_grad_norm_(student.parameters(), cfg.clip)
            opt.step()
            total += loss.item() * len(xb)
        sched.step()
        if epoch % 5 == 0:
            _, acc = evaluate(student, *valid)
            print(f"student epoch {epoch:2d}  loss {total / len(loader.dataset):.3f}  valid acc {acc:.3f}")
    return student


def main():
    torch.manual_seed(11)
    cfg = Settings()
    x_tr, x_te, y_tr, y_te = load()
    loader = DataLoader(TensorDataset(x_tr, y_tr), batch_size=cfg.batch, shuffle=True)

    teacher = train_teacher(mlp(256), loader, cfg)
    print("teacher  test loss %.3f  acc %.3f" % evaluate(teacher, x_te, y_te))

    student = train_student(mlp(16), teacher, loader, (x_te, y_te), cfg)
    print("student  test loss %.3f  acc %.3f" % evaluate(student, x_te, y_te))


if __name__ == "__main__":
    main()
