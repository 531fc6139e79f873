"""Physics-informed network for the heat equation u_t = alpha * u_xx on a rod with cold ends.
No measured data at all: only the equation, the initial profile and the boundary values."""
import math
import time

import torch
from torch import nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(4)

ALPHA = 0.1
N_INTERIOR, N_INITIAL, N_WALL = 600, 120, 80
W_INITIAL, W_WALL = 20.0, 10.0


def exact(x, t):
    return (torch.sin(math.pi * x) * torch.exp(-ALPHA * math.pi ** 2 * t)
            + 0.5 * torch.sin(3 * math.pi * x) * torch.exp(-ALPHA * 9 * math.pi ** 2 * t))


class Rod(nn.Module):
    def __init__(self, width=24, depth=3):
        super().__init__()
        dims = [2] + [width] * depth
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            lin = nn.Linear(a, b)
            nn.init.xavier_normal_(lin.weight)
            nn.init.zeros_(lin.bias)
            layers += [lin, nn.Tanh()]
        self.body = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x, t):
        z = torch.cat([2 * x - 1, 2 * t - 1], dim=1)
        return self.body(z)


def grad(out, inp):
    return torch.autograd.grad(out.sum(), inp, create_graph=True)[0]


def residual(net, x, t):
    x, t = x.requires_grad_(True), t.requires_grad_(True)
    u = net(x, t)
    return grad(u, t) - ALPHA * grad(grad(u, x), x)


engine = torch.quasirandom.SobolEngine(2, scramble=True, seed=4)
pts = engine.draw(N_INTERIOR, dtype=torch.float64)
x_in, t_in = pts[:, :1].clone(), pts[:, 1:].clone()
x_0 = torch.rand(N_INITIAL, 1)
t_0 = torch.zeros_like(x_0)
t_w = torch.rand(N_WALL, 1)
x_w = (torch.arange(N_WALL) % 2).double().unsqueeze(1)

net = Rod()
parts = {}


def objective():
    r = residual(net, x_in, t_in).square().mean()
    i = (net(x_0, t_0) - exact(x_0, t_0)).square().mean()
    w = net(x_w, t_w).square().mean()
    parts.update(pde=r.item(), initial=i.item(), wall=w.item())
    return r + W_INITIAL * i + W_WALL * w


@torch.no_grad()
def relative_error():
    g = torch.linspace(0, 1, 60)
    xx, tt = torch.meshgrid(g, g, indexing="ij")
    xx, tt = xx.reshape(-1, 1), tt.reshape(-1, 1)
    truth = exact(xx, tt)
    return ((net(xx, tt) - truth).norm() / truth.norm()).item()


start = time.time()
print(f"untrained relative L2 error {relative_error():.3f}; predicting zero gives 1.000")
adam = torch.optim.Adam(net.parameters(), lr=5e-3)
for it in range(200):
    adam.zero_grad()
    loss = objective()
    loss.backward()
    adam.step()
print(f"adam phase   loss {loss.item():.3e}  rel L2 {relative_error():.4f}  {time.time() - start:.1f}s")

lbfgs = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=25, history_size=50,
                          tolerance_grad=1e-9, tolerance_change=1e-12, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss = objective()
    loss.backward()
    return loss


for outer in range(16):
    loss = lbfgs.step(closure)
    if outer % 4 == 3:
        shown = "  ".join(f"{k} {v:.1e}" for k, v in parts.items())
        print(f"lbfgs {outer + 1:2d}     loss {loss.item():.3e}  rel L2 {relative_error():.4f}  [{shown}]")

print(f"final relative L2 error on the grid: {relative_error():.4f}  ({time.time() - start:.1f}s)")
