import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(30)
digits = load_digits()
X = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = torch.tensor(digits.target)
X_train, y_train, X_test, y_test = X[:1400], y[:1400].clone(), X[1400:], y[1400:]
y_train[torch.rand(1400) < 0.85] = -1

student = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 10))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
teacher.eval()

optimizer = torch.optim.Adam(student.parameters(), lr=2e-3)


def noisy(x):
    return x + 0.15 * torch.randn_like(x)


step, ramp = 0, 200
for epoch in range(30):
    student.train()
    sup_total = cons_total = 0.0
    for idx in torch.randperm(1400).split(100):
        logits = student(noisy(X_train[idx]))
        with torch.no_grad():
            target = F.log_softmax(teacher(noisy(X_train[idx])), dim=1)
        supervised = F.cross_entropy(logits, y_train[idx], ignore_index=-1)
        consistency = F.kl_div(F.log_softmax(logits, dim=1), target, log_target=True, reduction="batchmean")
        loss = supervised + 0.5 * min(1.0, step / ramp) * consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        decay = min(0.99, 1 - 1 / (step + 1))
        with torch.no_grad():
            for pt, ps in zip(teacher.parameters(), student.parameters()):
                pt.mul_(decay).add_(ps, alpha=1 - decay)
        sup_total += supervised.item()
        cons_total += consistency.item()
    if epoch % 5 == 4:
        student.eval()
        with torch.no_grad():
            acc_s = (student(X_test).argmax(1) == y_test).float().mean()
            acc_t = (teacher(X_test).argmax(1) == y_test).float().mean()
        print(f"epoch {epoch + 1} ce {sup_total / 14:.3f} kl {cons_total / 14:.4f} student {acc_s:.3f} teacher {acc_t:.3f}")
