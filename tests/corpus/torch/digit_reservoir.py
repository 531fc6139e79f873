import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(13)
SETTINGS = {"units": 300, "leak": 0.6, "radius": 0.8, "lr": 0.3, "epochs": 80, "batch": 64, "patience": 12}


class EchoState(nn.Module):
    def __init__(self, n_in, units, leak, radius, classes):
        super().__init__()
        self.leak = leak
        w = torch.randn(units, units) * (torch.rand(units, units) < 0.1)
        w = w * radius / torch.linalg.eigvals(w).abs().max()
        self.register_buffer("w_rec", w)
        self.w_in = nn.Parameter(torch.randn(units, n_in), requires_grad=False)
        self.readout = nn.Linear(units, classes)

    def forward(self, rows):
        with torch.no_grad():
            state = torch.zeros(len(rows), self.w_rec.shape[0])
            total = torch.zeros_like(state)
            for t in range(rows.shape[1]):
                drive = rows[:, t] @ self.w_in.T + state @ self.w_rec.T
                state = (1 - self.leak) * state + self.leak * torch.tanh(drive)
                total += state / rows.shape[1]
        return self.readout(total)


def load():
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32) / 16.0
    y = torch.tensor(digits.target)
    rest, test = train_test_split(range(len(y)), test_size=0.25, random_state=0, stratify=digits.target)
    train, valid = train_test_split(rest, test_size=0.15, random_state=0)
    return [(x[i], y[i]) for i in (train, valid, test)]


def main(s):
    (x, y), (vx, vy), (tx, ty) = load()
    net = EchoState(8, s["units"], s["leak"], s["radius"], 10)
    opt = torch.optim.SGD(net.parameters(), lr=s["lr"], momentum=0.9)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=4)
    best, keep, stale = float("inf"), None, 0
    for epoch in range(s["epochs"]):
        for idx in torch.randperm(len(y)).split(s["batch"]):
            opt.zero_grad()
            loss = F.cross_entropy(net(x[idx]), y[idx])
            loss.backward()
            opt.step()
        with torch.no_grad():
            v = F.cross_entropy(net(vx), vy).item()
        sched.step(v)
        if v < best:
            best, keep, stale = v, copy.deepcopy(net.state_dict()), 0
        else:
            stale += 1
        if epoch % 10 == 0:
            print(f"epoch {epoch:2d}  valid loss {v:.3f}  lr {opt.param_groups[0]['lr']}")
        if stale > s["patience"]:
            break
    net.load_state_dict(keep)
    trained = sum(p.numel() for p in net.parameters() if p.requires_grad)
    with torch.no_grad():
        acc = (net(tx).argmax(1) == ty).float().mean().item()
    print(f"trainable weights {trained}  test accuracy {acc:.3f}")


main(SETTINGS)
