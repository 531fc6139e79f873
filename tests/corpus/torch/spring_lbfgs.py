"""Fit the position of a damped spring from few noisy readings plus its equation of motion (L-BFGS)."""
import logging
import os

import numpy as np
import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger(__name__)
torch.set_default_dtype(torch.float64)
torch.manual_seed(1)

DAMP, OMEGA = 0.4, 2.0  # x'' + 2 d x' + w^2 x = 0
T_END, T_SEEN = 6.0, 2.0


def truth(t):
    w = np.sqrt(OMEGA ** 2 - DAMP ** 2)
    return torch.exp(-DAMP * t) * (torch.cos(w * t) + DAMP / w * torch.sin(w * t))


class Sine(nn.Module):
    def forward(self, z):
        return torch.sin(z)


class SpringNet(nn.Module):
    """The first layer is scaled by hand so that sine units cover the time axis."""

    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), Sine(),
                                  nn.Linear(width, width), nn.Tanh(),
                                  nn.Linear(width, 1))
        with torch.no_grad():
            self.body[0].weight.uniform_(-6.0, 6.0)
            self.body[0].bias.uniform_(-3.14, 3.14)
        self.log_omega = nn.Parameter(torch.tensor(0.3))

    def forward(self, t):
        return self.body(t / T_END * 2 - 1)


def residual(net, t):
    t = t.clone().requires_grad_(True)
    x = net(t)
    dx, = torch.autograd.grad(x.sum(), t, create_graph=True)
    ddx, = torch.autograd.grad(dx.sum(), t, create_graph=True)
    return ddx + 2 * DAMP * dx + torch.exp(net.log_omega) ** 2 * x


t_data = torch.linspace(0, T_SEEN, 12)[:, None]
x_data = truth(t_data) + 0.01 * torch.randn_like(t_data)
t_col = torch.linspace(0, T_END, 120)[:, None]
t_test = torch.linspace(T_SEEN, T_END, 200)[:, None]

net = SpringNet()
optimizer = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=60, history_size=50,
                              line_search_fn="strong_wolfe")
parts = {}


def closure():
    optimizer.zero_grad()
    data = ((net(t_data) - x_data) ** 2).mean()
    phys = (residual(net, t_col) ** 2).mean()
    loss = 10.0 * data + weight * phys
    loss.backward()
    parts.update(data=data.item(), phys=phys.item())
    return loss


def rmse(pred, ref):
    return (pred - ref).pow(2).mean().sqrt().item()


for rnd in range(14):
    weight = min(1.0, 0.01 * 2 ** rnd)
    loss = optimizer.step(closure)
    with torch.no_grad():
        err = rmse(net(t_test), truth(t_test))
    log.info("round %2d weight %.3f data %.2e phys %.2e omega %.3f unseen rmse %.4f", rnd, weight,
             parts["data"], parts["phys"], net.log_omega.exp().item(), err)

os.makedirs("out", exist_ok=True)
torch.save({"net": net.state_dict(), "parts": parts}, "out/spring.pt")
with torch.no_grad():
    final = rmse(net(t_test), truth(t_test))
log.info("rmse on t in [%.0f, %.0f]: %.4f (predicting zero %.4f), omega %.3f (true %.1f)",
         T_SEEN, T_END, final, rmse(torch.zeros_like(t_test), truth(t_test)),
         net.log_omega.exp().item(), OMEGA)
