"""Shrink a big sensor classifier into one for a pocket device. The device only answers when it is sure."""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--temperature", type=float, default=4.0)
parser.add_argument("--alpha", type=float, default=0.9)
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--sure", type=float, default=0.8)
args = parser.parse_args()

torch.manual_seed(0)
N_CLASS, DIM = 10, 30
centres = torch.randn(N_CLASS, 3, DIM) * 1.1


def sample(n):
    y = torch.randint(N_CLASS, (n,))
    mode = torch.randint(3, (n,))
    return centres[y, mode] + torch.randn(n, DIM) * 0.9, y


def mlp(width, depth):
    layers, d = [], DIM
    for _ in range(depth):
        layers += [nn.Linear(d, width), nn.ReLU()]
        d = width
    return nn.Sequential(*layers, nn.Linear(d, N_CLASS))


class DistillLoss(nn.Module):
    def __init__(self, temperature, alpha):
        super().__init__()
        self.t = temperature
        self.alpha = alpha

    def forward(self, student_logits, teacher_logits, target):
        soft_target = F.softmax(teacher_logits / self.t, dim=-1)
        log_p = F.log_softmax(student_logits / self.t, dim=-1)
        soft = F.kl_div(log_p, soft_target, reduction="batchmean") * self.t ** 2
        hard = F.cross_entropy(student_logits, target)
        return self.alpha * soft + (1 - self.alpha) * hard


def report(name, model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
        conf, pred = logits.softmax(-1).max(-1)
    ok = (pred == y).float()
    answered = (conf > args.sure).float().mean().item()
    print(f"{name:8s} acc {ok.mean().item():.3f}  nll {F.cross_entropy(logits, y).item():.3f}  "
          f"mean confidence {conf.mean().item():.3f}  answered {answered:.3f}")


xtr, ytr = sample(8000)
xte, yte = sample(2000)
loader = DataLoader(TensorDataset(xtr, ytr), batch_size=64, shuffle=True)

teacher = mlp(256, 2)
opt = torch.optim.AdamW(teacher.parameters(), lr=1e-3, weight_decay=1e-2)
for epoch in range(6):
    for xb, yb in loader:
        loss = F.cross_entropy(teacher(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
report("teacher", teacher, xte, yte)
teacher.requires_grad_(False)

student = mlp(32, 1)
criterion = DistillLoss(args.temperature, args.alpha)
opt = torch.optim.AdamW(student.parameters(), lr=3e-3)
for epoch in range(args.epochs):
    student.train()
    running = 0.0
    for xb, yb in loader:
        with torch.no_grad():
            t_logits = teacher(xb)
        loss = criterion(student(xb), t_logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    print(f"epoch {epoch + 1:2d} distill loss {running / len(loader):.4f}")
report("student", student, xte, yte)
