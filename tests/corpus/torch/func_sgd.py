"""Two-moons classifier trained with torch.func and a hand-written momentum update."""
import torch
from torch import nn
from torch.func import functional_call, grad_and_value
from sklearn.datasets import make_moons

torch.manual_seed(0)
X, y = make_moons(1200, noise=0.15, random_state=0)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32)
X_tr, y_tr, X_te, y_te = X[:900], y[:900], X[900:], y[900:]

net = nn.Sequential(nn.Linear(2, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1))
params = {k: v.detach().clone() for k, v in net.named_parameters()}
velocity = {k: torch.zeros_like(v) for k, v in params.items()}


def objective(p, xb, yb):
    logit = functional_call(net, p, (xb,)).squeeze(1)
    return nn.functional.binary_cross_entropy_with_logits(logit, yb)


step_fn = grad_and_value(objective)
LR, MU = 0.1, 0.9
for epoch in range(20):
    total = 0.0
    for idx in torch.randperm(len(X_tr)).split(50):
        grads, value = step_fn(params, X_tr[idx], y_tr[idx])
        for name, g in grads.items():
            velocity[name] = MU * velocity[name] + g
            params[name] = params[name] - LR * velocity[name]
        total += value.item() * len(idx)
    if epoch % 4 == 3:
        with torch.no_grad():
            out = functional_call(net, params, (X_te,)).squeeze(1)
        acc = ((out > 0).float() == y_te).float().mean().item()
        print(f"epoch {epoch + 1} loss {total / len(X_tr):.4f} test acc {acc:.3f}")
