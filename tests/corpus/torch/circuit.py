"""Physics-informed network for a series RLC circuit that is switched on to a constant voltage.

    dq/dt = i,    di/dt = (V - R i - q / C) / L,    q(0) = q0, i(0) = 0      (scaled units)
"""
from dataclasses import dataclass

import numpy as np
import torch
from scipy.integrate import solve_ivp
from torch import nn


@dataclass
class Circuit:
    R: float = 0.4
    L: float = 1.0
    C: float = 0.2
    V: float = 3.0
    q0: float = -0.4
    t_end: float = 4.0

    def current_slope(self, q, i):
        return (self.V - self.R * i - q / self.C) / self.L

    def reference(self, t):
        sol = solve_ivp(lambda s, u: [u[1], self.current_slope(*u)], (0, self.t_end), [self.q0, 0.0], t_eval=t, rtol=1e-8)
        return sol.y.T


class Field(nn.Module):
    def __init__(self, width=40, depth=3):
        super().__init__()
        layers, d = [], 1
        for _ in range(depth):
            layers += [nn.Linear(d, width), nn.Tanh()]
            d = width
        self.net = nn.Sequential(*layers, nn.Linear(d, 2))

    def forward(self, t):
        return self.net(t - 2.0).split(1, dim=-1)


def time_derivative(u, t):
    return torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), retain_graph=True)[0]


class Solver:
    def __init__(self, circuit, n_points=128, steps=4000, lr=5e-3):
        self.c = circuit
        self.field = Field()
        self.n_points, self.steps = n_points, steps
        self.opt = torch.optim.Adam(self.field.parameters(), lr=lr)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=steps)

    def physics_loss(self):
        t = (torch.rand(self.n_points, 1) * self.c.t_end).requires_grad_(True)
        q, i = self.field(t)
        r_q = time_derivative(q, t) - i
        r_i = time_derivative(i, t) - self.c.current_slope(q, i)
        return r_q.pow(2).mean() + r_i.pow(2).mean()

    def start_loss(self):
        q, i = self.field(torch.zeros(1, 1))
        return ((q - self.c.q0).pow(2) + i.pow(2)).mean()

    def run(self):
        for step in range(1, self.steps + 1):
            self.opt.zero_grad()
            phys, start = self.physics_loss(), self.start_loss()
            (phys + 10.0 * start).backward()
            self.opt.step()
            self.sched.step()
            if step % 500 == 0:
                print(f"step {step:5d}  physics {phys.item():.2e}  start {start.item():.2e}  rel. L2 error {self.error():.4f}")

    @torch.no_grad()
    def error(self):
        t = np.linspace(0, self.c.t_end, 301)
        ref = self.c.reference(t)
        pred = torch.cat(self.field(torch.tensor(t, dtype=torch.float32).unsqueeze(1)), dim=1).numpy()
        return float(np.linalg.norm(pred - ref) / np.linalg.norm(ref))


if __name__ == "__main__":
    torch.manual_seed(0)
    solver = Solver(Circuit())
    solver.run()
    print("final relative error:", round(solver.error(), 4))
