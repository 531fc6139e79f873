"""Share of seaweed cover from two standardized drone colour indices, plain gradient descent."""
import numpy as np
import torch

torch.manual_seed(0)
g = np.random.default_rng(30)

n = 6000
idx = g.normal(size=(n, 8)).astype(np.float32)
w_true = g.normal(size=8) * 0.8
share = 1 / (1 + np.exp(-(idx @ w_true - 0.3)))
cover = np.clip(share + g.normal(0, 0.03, n), 0, 1).astype(np.float32)

x = torch.from_numpy(idx)
y = torch.from_numpy(cover)
xt, yt, xv, yv = x[:5000], y[:5000], x[5000:], y[5000:]

w = torch.zeros(8, requires_grad=True)
b = torch.zeros((), requires_grad=True)
rate = 20.0


def predict(x):
    return torch.sigmoid(x @ w + b)


def brier(x, y):
    return ((predict(x) - y) ** 2).mean()


for step in range(6001):
    loss = brier(xt, yt)
    loss.backward()
    with torch.no_grad():
        w -= rate * w.grad
        b -= rate * b.grad
    w.grad = None
    b.grad = None
    if step % 500 == 0:
        with torch.no_grad():
            print(f"step {step:5d} loss {loss.item():.5f} held-out {brier(xv, yv).item():.5f}")

with torch.no_grad():
    resid = (predict(xv) - yv)
    r2 = 1 - resid.pow(2).mean() / yv.var()
    print(f"R2 on held-out {r2:.4f}")
    print("weight error", float(np.abs(w.numpy() - w_true).max()))

# the same with mini-batches and a rate that is halved now and then
w.data.zero_()
b.data.zero_()
opt = torch.optim.SGD([w, b], lr=20.0)
halve = torch.optim.lr_scheduler.StepLR(opt, step_size=25, gamma=0.5)
for epoch in range(150):
    for part in torch.randperm(len(xt)).split(100):
        opt.zero_grad()
        brier(xt[part], yt[part]).backward()
        opt.step()
    halve.step()
    if epoch % 25 == 24:
        with torch.no_grad():
            print(f"epoch {epoch + 1:3d} rate {halve.get_last_lr()[0]:.3f} held-out {brier(xv, yv).item():.5f}")
