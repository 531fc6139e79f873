"""
Physics informed network for the 1d heat equation  u_t = a u_xx  on [0, 1],
u(x, 0) = sin(pi x),  u(0, t) = u(1, t) = 0.  Exact solution is known.
"""
import math
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
ALPHA = 0.3


class HeatNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.l1 = nn.Linear(2, width)
        self.l2 = nn.Linear(width, width)
        self.l3 = nn.Linear(width, 1)

    def forward(self, x, t):
        h = torch.tanh(self.l1(torch.cat([x, t], dim=1)))
        h = torch.tanh(self.l2(h))
        return self.l3(h)


def exact(x, t):
    return torch.exp(-ALPHA * math.pi ** 2 * t) * torch.sin(math.pi * x)


def residual(net, x, t):
    x = x.clone().requires_grad_(True)
    t = t.clone().requires_grad_(True)
    u = net(x, t)
    u_x, u_t = torch.autograd.grad(u, (x, t), torch.ones_like(u), create_graph=True)
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    return u_t - ALPHA * u_xx


# collocation points, drawn once: LBFGS wants a deterministic objective
x_in, t_in = torch.rand(600, 1), torch.rand(600, 1)
x_start = torch.linspace(0, 1, 60).unsqueeze(1)
t_edge = torch.linspace(0, 1, 40).unsqueeze(1)

net = HeatNet()
opt = torch.optim.LBFGS(
    net.parameters(),
    lr=1.0,
    max_iter=25,
    history_size=30,
    line_search_fn="strong_wolfe",
)


def objective():
    physics = residual(net, x_in, t_in).pow(2).mean()
    start = (net(x_start, torch.zeros_like(x_start)) - torch.sin(math.pi * x_start)).pow(2).mean()
    edge = net(torch.zeros_like(t_edge), t_edge).pow(2).mean() + net(torch.ones_like(t_edge), t_edge).pow(2).mean()
    return physics + 10 * start + 10 * edge


def closure():
    opt.zero_grad()
    loss = objective()
    loss.backward()
    return loss


gx, gt = torch.meshgrid(torch.linspace(0, 1, 50), torch.linspace(0, 1, 50), indexing="ij")
gx, gt = gx.reshape(-1, 1), gt.reshape(-1, 1)

for outer in range(1, 21):
    loss = opt.step(closure)
    if outer % 4 == 0 or outer == 1:
        with torch.no_grad():
            gap = (net(gx, gt) - exact(gx, gt)).abs().max().item()
        print(f"round {outer:2d}  objective before the round {loss.item():.2e}  largest error {gap:.4f}")
