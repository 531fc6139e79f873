# Bag-of-words logistic regression. Rows are relative frequencies, so every entry is tiny.
import numpy as np
import torch

torch.manual_seed(0)
rng = np.random.default_rng(0)

V, N, DOC = 800, 5000, 150
topic = rng.dirichlet(np.full(V, 0.3), size=4)


def documents(n):
    y = rng.integers(0, 4, n)
    background = topic.mean(0)
    x = np.stack([rng.multinomial(DOC, 0.45 * topic[k] + 0.55 * background) for k in y])
    return torch.tensor(x / DOC, dtype=torch.float32), torch.tensor(y)


X, y = documents(N)
Xv, yv = documents(1000)
print("mean feature", X.mean().item(), "largest", X.max().item())

W = torch.zeros(V, 4, requires_grad=True)
b = torch.zeros(4, requires_grad=True)
opt = torch.optim.SGD([{"params": [W], "lr": 60.0}, {"params": [b], "lr": 0.1}])

for epoch in range(60):
    order = torch.randperm(N)
    total = 0.0
    for start in range(0, N, 100):
        idx = order[start:start + 100]
        logits = X[idx] @ W + b
        loss = torch.nn.functional.cross_entropy(logits, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    for g in opt.param_groups:
        g["lr"] *= 0.97
    if epoch % 6 == 0 or epoch == 59:
        with torch.no_grad():
            lv = Xv @ W + b
            acc = (lv.argmax(1) == yv).float().mean()
            vloss = torch.nn.functional.cross_entropy(lv, yv)
        print(f"{epoch:3d} train {total / N:.4f} valid {vloss:.4f} acc {acc:.3f} |W| {W.norm():.1f}")
