# Bean sorting: 6 kinds of bean from 12 sieve and colour readings, plain SGD
import numpy as np
import torch
import torch.nn.functional as F

gen = np.random.default_rng(40)
torch.manual_seed(40)
KINDS, READINGS = 6, 12


def readings(n):
    y = gen.integers(0, KINDS, n)
    x = CENTRES[y] + gen.normal(0, 0.09, (n, READINGS))
    return torch.tensor(x, dtype=torch.float32).clamp(0, 1), torch.tensor(y)


CENTRES = gen.uniform(0.3, 0.7, (KINDS, READINGS))
x_tr, y_tr = readings(4000)
x_va, y_va = readings(1000)

# readings stay in 0..1 (sieve shares), so the rows are small and a large step is fine
centre = x_tr.mean(0)
x_tr, x_va = x_tr - centre, x_va - centre

W = torch.zeros(READINGS, KINDS, requires_grad=True)
b = torch.zeros(KINDS, requires_grad=True)
optimizer = torch.optim.SGD([W, b], lr=8.0)


def lr_at(step, total, base=8.0):
    return base * (1 - step / total)


epochs, batch = 90, 200
total_steps = epochs * (len(x_tr) // batch)
step = 0
for epoch in range(epochs):
    order = torch.randperm(len(x_tr))
    running = 0.0
    for i in range(0, len(x_tr), batch):
        for g in optimizer.param_groups:
            g["lr"] = lr_at(step, total_steps)
        pick = order[i:i + batch]
        loss = F.cross_entropy(x_tr[pick] @ W + b, y_tr[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
        step += 1
    if epoch % 10 == 0 or epoch == epochs - 1:
        with torch.no_grad():
            out = x_va @ W + b
            va_loss = F.cross_entropy(out, y_va).item()
            va_acc = (out.argmax(1) == y_va).float().mean().item()
        print(f"epoch {epoch:2d} train {running / (len(x_tr) // batch):.4f} val {va_loss:.4f} acc {va_acc:.3f} "
              f"lr {optimizer.param_groups[0]['lr']:.2f}")
