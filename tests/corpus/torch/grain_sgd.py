"""Grade grain kernels from 24 measurements with plain SGD."""
import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(0)
rng = np.random.default_rng(0)

N, D, K = 12000, 24, 6
centres = rng.normal(0, 1.0, (K, 3, D))
label = rng.integers(0, K, N)
part = rng.integers(0, 3, N)
raw = centres[label, part] + rng.normal(0, 0.55, (N, D))
raw = raw * rng.uniform(0.1, 40, D) + rng.uniform(-50, 50, D)

x_tr, y_tr = raw[:10000], label[:10000]
x_te, y_te = raw[10000:], label[10000:]
mu, sd = x_tr.mean(0), x_tr.std(0)
x_tr = torch.tensor((x_tr - mu) / sd, dtype=torch.float32)
x_te = torch.tensor((x_te - mu) / sd, dtype=torch.float32)
y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

H = 192
W1 = (torch.randn(D, H) / D**0.5).requires_grad_()
b1 = torch.zeros(H, requires_grad=True)
W2 = torch.zeros(H, K, requires_grad=True)
b2 = torch.zeros(K, requires_grad=True)
params = [W1, b1, W2, b2]


def forward(x):
    return torch.tanh(x @ W1 + b1) @ W2 / H**0.5 + b2


opt = torch.optim.SGD(params, lr=2.5)
batch, epochs = 500, 150
for epoch in range(epochs):
    for g in opt.param_groups:
        g["lr"] = 2.5 * (1 - epoch / epochs)
    total = 0.0
    for idx in torch.randperm(len(x_tr)).split(batch):
        loss = F.cross_entropy(forward(x_tr[idx]), y_tr[idx])
        grads = torch.autograd.grad(loss, params)
        for p, g in zip(params, grads):
            p.grad = g
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 10 == 9:
        with torch.no_grad():
            acc = (forward(x_te).argmax(1) == y_te).float().mean().item()
        print(f"epoch {epoch + 1:3d}  lr {opt.param_groups[0]['lr']:.2f}  train loss {total / len(x_tr):.4f}  test acc {acc:.4f}")
