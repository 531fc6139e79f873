"""Solve u'' + 2*d*u' + w^2*u = 0 with a small network, trained by L-BFGS on the residual only."""
import math

import torch
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

d, w = 0.5, 4.0
wd = math.sqrt(w * w - d * d)
t = torch.linspace(0, 2, 120).unsqueeze(1).requires_grad_(True)


def exact(s):
    return torch.exp(-d * s) * (torch.cos(wd * s) + d / wd * torch.sin(wd * s))


net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, history_size=50, line_search_fn="strong_wolfe")


def u_of(s):
    # the ansatz fulfils u(0) = 1 and u'(0) = 0 exactly
    return 1.0 + s * s * net(s)


def grad(out, inp):
    return torch.autograd.grad(out, inp, torch.ones_like(out), create_graph=True)[0]


def closure():
    opt.zero_grad()
    u = u_of(t)
    du = grad(u, t)
    ddu = grad(du, t)
    loss = ((ddu + 2 * d * du + w * w * u) ** 2).mean()
    loss.backward()
    return loss


for step in range(60):
    loss = opt.step(closure)
    if step % 10 == 0 or step == 59:
        with torch.no_grad():
            err = (u_of(t) - exact(t)).abs().max()
        print(f"outer step {step:2d}  residual {loss.item():.3e}  max error {err.item():.3e}")

with torch.no_grad():
    s = torch.rand(1000, 1) * 2
    rel = ((u_of(s) - exact(s)).norm() / exact(s).norm()).item()
print(f"relative L2 error on fresh points: {rel:.2e}")
