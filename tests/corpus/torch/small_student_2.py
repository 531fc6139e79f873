"""A tiny digits student taught only by a teacher's soft answers on unlabelled, mixed-up images."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(51)
T = 3.0
digits = load_digits()
x = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = torch.tensor(digits.target)
idx_lab, idx_rest = train_test_split(np.arange(len(x)), train_size=600, stratify=digits.target, random_state=51)
idx_pool, idx_test = train_test_split(idx_rest, test_size=450, stratify=digits.target[idx_rest], random_state=51)


def mlp(*sizes, drop=0.0):
    layers = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        layers.append(nn.Linear(a, b))
        if i < len(sizes) - 2:
            layers += [nn.ReLU(), nn.Dropout(drop)]
    return nn.Sequential(*layers)


@torch.no_grad()
def accuracy(net, idx):
    net.eval()
    return (net(x[idx]).argmax(1) == y[idx]).float().mean().item()


def train_on_labels(net, epochs, lr):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for _ in range(epochs):
        net.train()
        for b in torch.as_tensor(idx_lab)[torch.randperm(len(idx_lab))].split(64):
            loss = F.cross_entropy(net(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net


print("teacher")
teacher = train_on_labels(mlp(64, 256, 256, 10, drop=0.3), epochs=50, lr=1e-3)
teacher.eval().requires_grad_(False)
print(f"  held-out accuracy {accuracy(teacher, idx_test):.3f}")

print("student, taught")
pool = torch.cat([x[idx_lab], x[idx_pool]])
student = mlp(64, 12, 10)
opt = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, nesterov=True)
EPOCHS = 60
for epoch in range(EPOCHS):
    for g in opt.param_groups:
        g["lr"] = 0.1 * (1 - epoch / EPOCHS)
    student.train()
    total, steps = 0.0, 0
    for b in torch.randperm(len(pool)).split(64):
        # two images blended: the teacher may say what it likes, no label is needed
        lam = torch.rand(len(b), 1) * 0.3
        batch = (1 - lam) * pool[b] + lam * pool[b[torch.randperm(len(b))]]
        with torch.no_grad():
            soft = F.log_softmax(teacher(batch) / T, dim=1)
        out = F.log_softmax(student(batch) / T, dim=1)
        loss = T * T * F.kl_div(out, soft, reduction="batchmean", log_target=True)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total, steps = total + loss.item(), steps + 1
    if epoch % 12 == 0 or epoch == EPOCHS - 1:
        print(f"  epoch {epoch:2d}  kl {total / steps:.4f}  agrees with teacher on held-out "
              f"{(student(x[idx_test]).argmax(1) == teacher(x[idx_test]).argmax(1)).float().mean():.3f}")

plain = train_on_labels(mlp(64, 12, 10), epochs=60, lr=5e-3)
majority = np.bincount(digits.target[idx_test]).max() / len(idx_test)
print(f"held-out accuracy: student {accuracy(student, idx_test):.3f}, same net on the 600 labels "
      f"{accuracy(plain, idx_test):.3f}, teacher {accuracy(teacher, idx_test):.3f}, majority {majority:.3f}")
