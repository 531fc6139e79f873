"""Mean Teacher on digits with 60 labels. Targets come from an EMA copy that, as in the paper,
is run with its own noise and dropout while training; only the evaluation switches them off."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Config:
    n_labels = 60
    epochs = 40
    batch_l, batch_u = 30, 90
    lr = 2e-3
    ema = 0.98
    max_weight = 40.0
    rampup = 15
    seed = 21


def make_net():
    return nn.Sequential(
        nn.Unflatten(1, (1, 8)),
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Dropout(0.4),
        nn.Linear(64 * 16, 10),
    )


def jitter(x):
    """Shift each batch by at most one pixel and add noise."""
    dy, dx = np.random.randint(-1, 2, size=2)
    pad = F.pad(x, (1, 1, 1, 1))
    return pad[:, 1 + dy:9 + dy, 1 + dx:9 + dx] + 0.08 * torch.randn_like(x)


@torch.no_grad()
def update_ema(teacher, student, step, decay):
    d = min(decay, 1 - 1 / (step + 1))
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(d).add_(s, alpha=1 - d)


@torch.no_grad()
def score(net, x, y):
    net.eval()
    acc = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return acc


def run(cfg, data, consistency):
    torch.manual_seed(cfg.seed)
    np.random.seed(cfg.seed)
    xl, yl, xu, xt, yt = data
    student = make_net()
    teacher = copy.deepcopy(student)
    for p in teacher.parameters():
        p.requires_grad_(False)
    student.train()
    teacher.train()  # dropout stays on in the teacher: two noisy views of one image
    opt = torch.optim.Adam(student.parameters(), lr=cfg.lr)
    step = 0
    for epoch in range(cfg.epochs):
        w = cfg.max_weight * np.exp(-5 * (1 - min(1, epoch / cfg.rampup)) ** 2) if consistency else 0.0
        sup = con = 0.0
        batches = torch.randperm(len(xu)).split(cfg.batch_u)
        for idx in batches:
            li = torch.randint(len(xl), (cfg.batch_l,))
            x = torch.cat([xl[li], xu[idx]]) if consistency else xl[li]
            out = student(jitter(x))
            l_sup = F.cross_entropy(out[:cfg.batch_l], yl[li])
            l_con = torch.zeros(())
            if consistency:
                with torch.no_grad():
                    target = teacher(jitter(x)).softmax(1)
                l_con = F.mse_loss(out.softmax(1), target)
            opt.zero_grad()
            (l_sup + w * l_con).backward()
            opt.step()
            step += 1
            update_ema(teacher, student, step, cfg.ema)
            sup += l_sup.item() / len(batches)
            con += l_con.item() / len(batches)
        if epoch % 10 == 9:
            print(f"  consistency={consistency} epoch {epoch + 1} sup {sup:.3f} con {con:.4f} w {w:.2f}")
    return score(student, xt, yt), score(teacher, xt, yt)


if __name__ == "__main__":
    cfg = Config()
    x, y = load_digits(return_X_y=True)
    x = (x / 16).astype(np.float32).reshape(-1, 8, 8)
    x_pool, xt, y_pool, yt = train_test_split(x, y, test_size=500, stratify=y, random_state=cfg.seed)
    xl, xu, yl, _ = train_test_split(x_pool, y_pool, train_size=cfg.n_labels, stratify=y_pool, random_state=cfg.seed)
    data = [torch.from_numpy(v) for v in (xl, yl, xu, xt, yt)]
    only, _ = run(cfg, data, False)
    stu, tea = run(cfg, data, True)
    print(f"test accuracy: labels only {only:.3f} | mean teacher student {stu:.3f} teacher {tea:.3f} | chance 0.10")
