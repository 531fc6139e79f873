"""Distil an activity recogniser for the watch: large 1-D CNN teacher -> very small student.

The teacher is trained on the labelled laboratory windows. The student only sees unlabelled
recordings from the field, read file by file (one file = one wearer doing one thing), and the
teacher's soft answers for them.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

ACTS = ["walk", "run", "stairs", "cycle", "row", "clap", "type", "rest"]
LEN = 64


class World:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        k = len(ACTS)
        self.freq = np.linspace(1.5, 7.5, k)[self.rng.permutation(k)]
        self.gain = self.rng.uniform(0.3, 1.4, (k, 3))
        self.tilt = self.rng.normal(0, 0.5, (k, 3))
        self.phase = self.rng.uniform(0, 6.28, (k, 3))

    def windows(self, act, n, wearer=None):
        r = self.rng
        t = np.linspace(0, 1, LEN)
        w = wearer if wearer is not None else r.normal(0, 1, (n, 4))
        w = np.broadcast_to(w, (n, 4))
        f = self.freq[act] * (1 + 0.06 * w[:, 0]) + r.normal(0, 0.35, n)
        ph = r.uniform(0, 6.28, n)
        x = np.empty((n, 3, LEN))
        for a in range(3):
            x[:, a] = (self.tilt[act, a] + 0.25 * w[:, a + 1])[:, None] + self.gain[act, a] * np.sin(
                2 * np.pi * f[:, None] * t + ph[:, None] + self.phase[act, a])
        return (x + r.normal(0, 1.3, x.shape)).astype(np.float32)


def block(i, o):
    return nn.Sequential(nn.Conv1d(i, o, 5, padding=2), nn.BatchNorm1d(o), nn.ReLU(), nn.MaxPool1d(2))


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 32), block(32, 64), nn.Dropout(0.3), block(64, 64))
        self.fc = nn.Sequential(nn.Flatten(), nn.Dropout(0.4), nn.Linear(64 * 8, len(ACTS)))

    def forward(self, x):
        return self.fc(self.body(x))


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(3, 12, 7, stride=2, padding=3), nn.ReLU(),
                                 nn.Conv1d(12, 16, 5, stride=2, padding=2), nn.ReLU(),
                                 nn.Flatten(), nn.Linear(16 * 16, len(ACTS)))

    def forward(self, x):
        return self.net(x)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        acc = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return acc


def train_teacher(x, y, xv, yv, epochs=8):
    teacher = Teacher()
    opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
    for ep in range(epochs):
        for sel in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(teacher(x[sel]), y[sel])
            opt.zero_grad(); loss.backward(); opt.step()
        print(f"teacher {ep}: loss {loss.item():.3f}  valid acc {evaluate(teacher, xv, yv):.3f}")
    return teacher


def distil(teacher, files, temperature=3.0, epochs=12):
    student = Student()
    opt = torch.optim.Adam(student.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for p in teacher.parameters():
        p.requires_grad_(False)
    for ep in range(epochs):
        total = 0.0
        for k in torch.randperm(len(files)).tolist():
            xb = files[k]
            soft = F.softmax(teacher(xb) / temperature, dim=1)
            logp = F.log_softmax(student(xb) / temperature, dim=1)
            loss = F.kl_div(logp, soft, reduction="batchmean") * temperature ** 2
            opt.zero_grad(); loss.backward(); opt.step()
            total += loss.item()
        sched.step()
        print(f"student {ep}: kd loss {total / len(files):.3f}")
    return student


def main():
    torch.manual_seed(2)
    world = World(2)

    def labelled(n):
        y = world.rng.integers(0, len(ACTS), n)
        x = np.concatenate([world.windows(a, 1) for a in y])
        return torch.from_numpy(x), torch.from_numpy(y)

    x, y = labelled(2000)
    xv, yv = labelled(500)
    xt, yt = labelled(1500)
    files = [torch.from_numpy(world.windows(int(world.rng.integers(len(ACTS))), 24, world.rng.normal(0, 1, 4)))
             for _ in range(240)]
    teacher = train_teacher(x, y, xv, yv)
    student = distil(teacher, files)
    print(f"TEST accuracy  teacher {evaluate(teacher, xt, yt):.3f}  student {evaluate(student, xt, yt):.3f}"
          f"  (chance {1 / len(ACTS):.3f})")


if __name__ == "__main__":
    main()
