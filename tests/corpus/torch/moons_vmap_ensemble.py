"""Ten small networks trained at once with torch.func; the update is written by hand."""
import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

torch.manual_seed(4)
K = 10

X, y = make_moons(1200, noise=0.2, random_state=4)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32)
X_train, y_train, X_test, y_test = X[:800], y[:800], X[800:], y[800:]


def new_net():
    return nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))


params, buffers = stack_module_state([new_net() for _ in range(K)])
params = {k: v.detach() for k, v in params.items()}
skeleton = new_net().to("meta")


def loss_of(p, b, x, target):
    margin = (2 * target - 1) * functional_call(skeleton, (p, b), (x,)).squeeze(-1)
    return nn.functional.softplus(-margin).sum()


step_fn = vmap(grad_and_value(loss_of), in_dims=(0, 0, 0, 0))
predict = vmap(lambda p, b, x: functional_call(skeleton, (p, b), (x,)).squeeze(-1), in_dims=(0, 0, None))
velocity = {k: torch.zeros_like(v) for k, v in params.items()}

for it in range(1500):
    idx = torch.randint(0, len(X_train), (K, 32))
    grads, losses = step_fn(params, buffers, X_train[idx], y_train[idx])
    for k in params:
        velocity[k] = 0.9 * velocity[k] - 0.003 * grads[k]
        params[k] = params[k] + velocity[k]
    if it % 300 == 0 or it == 1499:
        logits = predict(params, buffers, X_test)
        single = ((logits > 0).float() == y_test).float().mean(dim=1)
        joint = ((logits.sigmoid().mean(0) > 0.5).float() == y_test).float().mean()
        print(f"iter {it:4d}  summed loss {losses.mean():.3f}  single {single.mean():.3f}  ensemble {joint:.3f}")
