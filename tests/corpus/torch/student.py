"""A small network learns from a large one."""
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(1)
digits = load_digits()
x, y = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
train_x, train_y, test_x, test_y = x[:1400], y[:1400], x[1400:], y[1400:]


def network(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 10))


def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(test_x).argmax(1) == test_y).float().mean().item()


teacher, student = network(256), network(24)
opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for epoch in range(8):
    teacher.train()
    for i in torch.randperm(1400).split(50):
        loss = F.cross_entropy(teacher(train_x[i]), train_y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
print("teacher", accuracy(teacher))

T, alpha = 3.0, 0.7
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(8):
    student.train()
    for i in torch.randperm(1400).split(50):
        with torch.no_grad():
            soft = F.softmax(teacher(train_x[i]) / T, dim=1)
        out = student(train_x[i])
        distill = F.kl_div(F.log_softmax(out / T, dim=1), soft, reduction="batchmean") * T * T
        loss = alpha * distill + (1 - alpha) * F.cross_entropy(out, train_y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
print("student", accuracy(student))
