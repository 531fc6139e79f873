# Is a magnetic source shallow or deep? Softmax regression on small bounded features.
import numpy as np
import torch

torch.manual_seed(0)
g = np.random.default_rng(0)


def survey(n):
    deep = g.integers(0, 2, n)
    x0 = g.uniform(-0.5, 0.5, n)
    depth = np.where(deep, g.uniform(1.0, 2.0, n), g.uniform(0.3, 0.75, n))
    s = np.linspace(-3, 3, 40)
    f = depth[:, None] ** 3 / ((s[None] - x0[:, None]) ** 2 + depth[:, None] ** 2) ** 1.5
    f = f + g.normal(0, 0.05, f.shape)
    return torch.tensor(f * 0.05, dtype=torch.float32), torch.tensor(deep)


X, Y = survey(3000)
Xt, Yt = survey(1000)
W = torch.zeros(40, 2, requires_grad=True)
b = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([W, b], lr=40.0)

for step in range(10001):
    k = torch.randint(0, len(X), (256,))
    loss = torch.nn.functional.cross_entropy(X[k] @ W + b * 0.05, Y[k])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 1000 == 0:
        with torch.no_grad():
            acc = ((Xt @ W + b * 0.05).argmax(1) == Yt).float().mean()
        print(f"{step:5d}  loss {loss.item():.4f}  acc {acc:.3f}  |W| {W.norm().item():.1f}")

with torch.no_grad():
    p = (Xt @ W + b * 0.05).softmax(1)[:, 1]
print("mean stated chance of 'deep' by true class:")
for k, name in enumerate(["shallow", "deep"]):
    print(f"  {name:8s} {p[Yt == k].mean():.3f}")
print("largest weights at stations:", W[:, 1].abs().topk(4).indices.tolist())
