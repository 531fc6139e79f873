import torch
from sklearn.datasets import load_digits

digits = load_digits()
x = torch.tensor(digits.data, dtype=torch.float32) / 16
t = torch.tensor(digits.target)

g = torch.Generator().manual_seed(0)
order = torch.randperm(len(x), generator=g)
x, t = x[order], t[order]
x_fit, t_fit, x_hold, t_hold = x[:1300], t[:1300], x[1300:], t[1300:]

w = torch.zeros(64, 10, requires_grad=True)
b = torch.zeros(10, requires_grad=True)
rate = 3.0


def log_softmax(z):
    return z - z.logsumexp(dim=1, keepdim=True)


for step in range(301):
    scores = x_fit @ w + b
    nll = -log_softmax(scores)[torch.arange(len(t_fit)), t_fit].mean()
    nll.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= rate * p.grad
            p.grad.zero_()
    if step % 50 == 0:
        with torch.no_grad():
            good = ((x_hold @ w + b).argmax(1) == t_hold).float().mean()
        print(f"{step:4d}  nll {nll.item():.4f}  held-out accuracy {good:.4f}")
