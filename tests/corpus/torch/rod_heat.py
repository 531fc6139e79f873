# Cooling of a rod, u_t = k u_xx with unknown k, from the equation plus a few noisy probes.
import math
import numpy as np
import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
rng = np.random.default_rng(0)

TRUE_K = 0.12
exact = lambda x, t: torch.exp(-TRUE_K * math.pi ** 2 * t) * torch.sin(math.pi * x)

# 25 probes, two percent noise
xp = torch.tensor(rng.uniform(0, 1, (25, 1)))
tp = torch.tensor(rng.uniform(0, 1, (25, 1)))
up = exact(xp, tp) + 0.02 * torch.tensor(rng.normal(size=(25, 1)))

# collocation points: fixed, as L-BFGS wants one and the same function at every call
xc = torch.tensor(rng.uniform(0, 1, (600, 1))).requires_grad_()
tc = torch.tensor(rng.uniform(0, 1, (600, 1))).requires_grad_()
x0 = torch.linspace(0, 1, 60)[:, None]
tb = torch.linspace(0, 1, 60)[:, None]

net = torch.nn.Sequential(
    torch.nn.Linear(2, 24), torch.nn.Tanh(),
    torch.nn.Linear(24, 24), torch.nn.Tanh(),
    torch.nn.Linear(24, 1))
for m in net:
    if isinstance(m, torch.nn.Linear):
        torch.nn.init.xavier_normal_(m.weight)
        torch.nn.init.zeros_(m.bias)
raw_k = torch.nn.Parameter(torch.tensor(0.0))          # k = softplus(raw_k), starts at 0.69


def u(x, t):
    return net(torch.cat([x, t], dim=1))


def parts():
    v = u(xc, tc)
    v_x, v_t = torch.autograd.grad(v.sum(), (xc, tc), create_graph=True)
    v_xx, = torch.autograd.grad(v_x.sum(), xc, create_graph=True)
    k = torch.nn.functional.softplus(raw_k)
    residual = (v_t - k * v_xx).pow(2).mean()
    start = (u(x0, torch.zeros_like(x0)) - torch.sin(math.pi * x0)).pow(2).mean()
    edge = u(torch.zeros_like(tb), tb).pow(2).mean() + u(torch.ones_like(tb), tb).pow(2).mean()
    probe = (u(xp, tp) - up).pow(2).mean()
    return residual, start, edge, probe


weights = (1.0, 20.0, 20.0, 10.0)
params = list(net.parameters()) + [raw_k]

gx, gt = torch.meshgrid(torch.linspace(0, 1, 41), torch.linspace(0, 1, 41), indexing="ij")
gx, gt = gx.reshape(-1, 1), gt.reshape(-1, 1)


def report(tag):
    with torch.no_grad():
        err = (u(gx, gt) - exact(gx, gt)).norm() / exact(gx, gt).norm()
        k = torch.nn.functional.softplus(raw_k)
    print(f"{tag:>12}  relative error {err:.4f}  k {k:.4f} (true {TRUE_K})")


report("start")
adam = torch.optim.Adam(params, lr=5e-3)
for i in range(600):
    adam.zero_grad(set_to_none=True)
    total = sum(w * p for w, p in zip(weights, parts()))
    total.backward()
    adam.step()
    if i % 200 == 199:
        report(f"adam {i + 1}")

lbfgs = torch.optim.LBFGS(params, lr=1.0, max_iter=50, history_size=30, line_search_fn="strong_wolfe",
                          tolerance_grad=1e-9, tolerance_change=1e-12)


def closure():
    lbfgs.zero_grad()
    total = sum(w * p for w, p in zip(weights, parts()))
    total.backward()
    return total


for outer in range(8):
    last = lbfgs.step(closure)
    if outer % 2:
        report(f"lbfgs {outer + 1}")
print("final objective %.2e" % last.item())
