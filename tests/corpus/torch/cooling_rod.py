import math
import torch
import torch.nn as nn

torch.manual_seed(0)

# damped oscillator  u'' + 2 d u' + w0^2 u = 0,  u(0) = 1, u'(0) = 0
d, w0 = 1.0, 6.0


def exact(t):
    w = math.sqrt(w0 ** 2 - d ** 2)
    return torch.exp(-d * t) * (torch.cos(w * t) + d / w * torch.sin(w * t))


def grad(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
t_col = torch.linspace(0, 1.5, 80).view(-1, 1).requires_grad_(True)
t_0 = torch.zeros(1, 1, requires_grad=True)


def objective():
    u0 = net(t_0)
    start = (u0 - 1).pow(2).sum() + 0.1 * grad(u0, t_0).pow(2).sum()
    u = net(t_col)
    du = grad(u, t_col)
    ddu = grad(du, t_col)
    residual = ddu + 2 * d * du + w0 ** 2 * u
    return start + 1e-3 * residual.pow(2).mean()


adam = torch.optim.Adam(net.parameters(), lr=3e-3)
for it in range(3000):
    adam.zero_grad()
    loss = objective()
    loss.backward()
    adam.step()
    if it % 300 == 0:
        print(f"adam  {it:4d}  {loss.item():.6f}")

lbfgs = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, history_size=50, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss = objective()
    loss.backward()
    return loss


for it in range(25):
    loss = lbfgs.step(closure)
    if it % 5 == 0:
        print(f"lbfgs {it:4d}  {loss.item():.8f}")

t_test = torch.linspace(0, 1.5, 300).view(-1, 1)
with torch.no_grad():
    err = (net(t_test) - exact(t_test)).norm() / exact(t_test).norm()
print(f"relative L2 error against the analytic solution: {err.item():.4f}")
