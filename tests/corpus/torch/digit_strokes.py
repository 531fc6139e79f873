# 12x12 seven-segment digits, plain SGD
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
SEG = {0: "abcdef", 1: "bc", 2: "abged", 3: "abgcd", 4: "fgbc", 5: "afgcd", 6: "afgedc", 7: "abc", 8: "abcdefg", 9: "abcdfg"}
LINES = {"a": (slice(1, 2), slice(3, 9)), "g": (slice(5, 6), slice(3, 9)), "d": (slice(10, 11), slice(3, 9)),
         "f": (slice(1, 6), slice(2, 3)), "b": (slice(1, 6), slice(9, 10)),
         "e": (slice(5, 11), slice(2, 3)), "c": (slice(5, 11), slice(9, 10))}


def digits(n):
    y = torch.randint(0, 10, (n,))
    x = torch.zeros(n, 12, 12)
    for i, d in enumerate(y.tolist()):
        for s in SEG[d]:
            r, c = LINES[s]
            x[i, r, c] = 1.0
        dr, dc = torch.randint(-1, 2, (2,)).tolist()
        x[i] = torch.roll(x[i], (dr, dc), (0, 1))
    return x + 0.25 * torch.randn_like(x), y


x_tr, y_tr = digits(10000)
x_va, y_va = digits(1000)
m, s = x_tr.mean(), x_tr.std()
x_tr, x_va = (x_tr - m) / s / 12, (x_va - m) / s / 12

net = nn.Sequential(nn.Flatten(), nn.Linear(144, 128), nn.ReLU(), nn.Linear(128, 10))
opt = torch.optim.SGD(net.parameters(), lr=1.5)
epochs, bs = 30, 100
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, total_iters=epochs)

for ep in range(epochs):
    net.train()
    perm = torch.randperm(len(x_tr))
    tot = 0.0
    for idx in perm.split(bs):
        loss = F.cross_entropy(net(x_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    sched.step()
    net.eval()
    with torch.no_grad():
        acc = (net(x_va).argmax(1) == y_va).float().mean().item()
    print(f"{ep:2d} lr {sched.get_last_lr()[0]:.2f} loss {tot / len(x_tr):.4f} val acc {acc:.3f}")
