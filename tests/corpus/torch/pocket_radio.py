# distil a wide signal classifier into one that fits on the receiver
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
N_CLASS, DIM, T = 8, 40, 3.0
centres = torch.randn(N_CLASS, 3, DIM) * 0.62


def signals(n):
    y = torch.randint(0, N_CLASS, (n,))
    mode = torch.randint(0, 3, (n,))
    return centres[y, mode] + torch.randn(n, DIM), y


x_lab, y_lab = signals(4000)
x_pool, _ = signals(6000)
x_test, y_test = signals(2000)


def score(net):
    net.eval()
    with torch.no_grad():
        out = net(x_test)
    return (out.argmax(1) == y_test).float().mean().item(), F.cross_entropy(out, y_test).item()


teacher = nn.Sequential(nn.Linear(DIM, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 256), nn.ReLU(),
                        nn.Dropout(0.3), nn.Linear(256, N_CLASS))
opt = torch.optim.AdamW(teacher.parameters(), lr=1e-3, weight_decay=0.05)
for epoch in range(10):
    teacher.train()
    for idx in torch.randperm(len(x_lab)).split(100):
        loss = F.cross_entropy(teacher(x_lab[idx]), y_lab[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
print("teacher: acc %.3f nll %.3f" % score(teacher))

student = nn.Sequential(nn.Linear(DIM, 24), nn.ReLU(), nn.Linear(24, N_CLASS))
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
teacher.eval()
for epoch in range(15):
    student.train()
    total = 0.0
    for idx in torch.randperm(len(x_pool)).split(100):
        with torch.no_grad():
            soft = F.softmax(teacher(x_pool[idx]) / T, dim=1)
        loss = F.kl_div(student(x_pool[idx]) / T, soft, reduction="batchmean") * T * T
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 2:
        acc, nll = score(student)
        print(f"student epoch {epoch + 1:2d} loss {total / len(x_pool):.4f} acc {acc:.3f} nll {nll:.3f}")
