# Fruit grading where every third label of the sorting crew is wrong; generalized cross entropy
# (Zhang & Sabuncu 2018) tolerates it. The test labels come from the lab and are right.
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(8)
torch.manual_seed(8)
GRADES = 6


def harvest(n):
    grade = rng.integers(0, GRADES, n)
    centers = np.random.default_rng(99).normal(0, 1.6, (GRADES, 10))
    x = centers[grade] + rng.normal(0, 1.0, (n, 10))
    x[:, 0] = np.tanh(x[:, 0]) + 0.2 * x[:, 1]
    return x.astype(np.float32), grade


def crew_labels(grade, rate=0.33):
    wrong = rng.random(len(grade)) < rate
    shift = rng.integers(1, GRADES, len(grade))
    return np.where(wrong, (grade + shift) % GRADES, grade)


class Grader(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(10, 96), nn.ELU(), nn.Linear(96, 96), nn.ELU(), nn.Linear(96, GRADES), nn.Softmax(dim=-1)
        )

    def forward(self, x):
        return self.layers(x)


class GeneralizedCrossEntropy(nn.Module):
    def __init__(self, q: float = 0.7):
        super().__init__()
        self.q = q

    def forward(self, probs, target):
        p = probs.gather(1, target[:, None]).squeeze(1).clamp_min(1e-7)
        return ((1 - p**self.q) / self.q).mean()


x_train, true_train = harvest(3000)
y_train = crew_labels(true_train)
x_test, y_test = harvest(1000)
mu, sd = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd
print(f"labels of the crew that agree with the lab: {(y_train == true_train).mean():.2f}")

loader = DataLoader(TensorDataset(torch.tensor(x_train), torch.tensor(y_train)), batch_size=50, shuffle=True)
grader, criterion = Grader(), GeneralizedCrossEntropy()
optimizer = torch.optim.SGD(grader.parameters(), lr=0.3, momentum=0.5, nesterov=True)
xt, yt = torch.tensor(x_test), torch.tensor(y_test)

for epoch in range(1, 21):
    grader.train()
    total = agree = 0
    for x, y in loader:
        optimizer.zero_grad()
        probs = grader(x)
        loss = criterion(probs, y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
        agree += (probs.argmax(1) == y).sum().item()
    if epoch % 2 == 0:
        grader.eval()
        with torch.no_grad():
            acc = (grader(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch:2d}  loss {total / len(x_train):.3f}  agreement with crew {agree / len(x_train):.3f}  lab accuracy {acc:.3f}")
