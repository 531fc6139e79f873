"""Born-Again Neural Networks (Furlanello et al. 2018) on the 8x8 digits with noisy training labels."""
import copy
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

cfg = SimpleNamespace(generations=3, epochs=12, lr=0.05, width=96, noise=0.15, temperature=2.0, alpha=0.7, seed=11)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc = nn.Linear(d, d)

    def forward(self, x):
        return x + F.gelu(self.fc(self.norm(x)))


class ResMLP(nn.Module):
    def __init__(self, width, depth=3, n_classes=10):
        super().__init__()
        self.stem = nn.Linear(64, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, n_classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def get_data():
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x, dtype=torch.float32) / 16.0 - 0.5
    y = torch.tensor(y)
    g = torch.Generator().manual_seed(cfg.seed)
    perm = torch.randperm(len(x), generator=g)
    x, y = x[perm], y[perm]
    xtr, ytr, xte, yte = x[:1300], y[:1300].clone(), x[1300:], y[1300:]
    flip = torch.rand(len(ytr), generator=g) < cfg.noise
    ytr[flip] = torch.randint(0, 10, (int(flip.sum()),), generator=g)
    return DataLoader(TensorDataset(xtr, ytr), batch_size=64, shuffle=True), (xte, yte)


def make_optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9, weight_decay=5e-4, nesterov=True)


def kd_loss(logits, labels, teacher_logits):
    T = cfg.temperature
    soft = F.kl_div(F.log_softmax(logits / T, 1), F.softmax(teacher_logits / T, 1), reduction="batchmean") * T * T
    return cfg.alpha * soft + (1 - cfg.alpha) * F.cross_entropy(logits, labels)


def accuracy(model, test):
    model.eval()
    with torch.no_grad():
        return (model(test[0]).argmax(1) == test[1]).float().mean().item()


def fit(student, teacher, optimizer, loader):
    for group in optimizer.param_groups:
        group["lr"] = cfg.lr
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.epochs)
    for epoch in range(cfg.epochs):
        student.train()
        running = 0.0
        for x, y in loader:
            logits = student(x)
            if teacher is None:
                loss = F.cross_entropy(logits, y)
            else:
                with torch.no_grad():
                    target = teacher(x)
                loss = kd_loss(logits, y, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        scheduler.step()
        if epoch % 3 == 2:
            print(f"    epoch {epoch + 1:2d} loss {running / len(loader):.4f}")


def main():
    torch.manual_seed(cfg.seed)
    loader, test = get_data()

    student = ResMLP(cfg.width)
    optimizer = make_optimizer(student)
    teacher, history = None, []
    for gen in range(cfg.generations):
        if gen > 0:
            teacher = copy.deepcopy(student).eval().requires_grad_(False)
            student = ResMLP(cfg.width)
        print(f"generation {gen}")
        fit(student, teacher, optimizer, loader)
        history.append(copy.deepcopy(student))
        print(f"  test accuracy {accuracy(student, test):.4f}")

    with torch.no_grad():
        votes = torch.stack([m.eval()(test[0]).softmax(1) for m in history]).mean(0)
    print("ensemble of generations %.4f" % (votes.argmax(1) == test[1]).float().mean().item())


if __name__ == "__main__":
    main()
