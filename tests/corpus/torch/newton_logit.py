"""Ridge logistic regression by LBFGS in double precision, all rows at once, compared with sklearn."""
import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

data = load_breast_cancer()
Xa, Xb, ya, yb = train_test_split(data.data, data.target, test_size=0.3, random_state=7, stratify=data.target)
m, s = Xa.mean(axis=0), Xa.std(axis=0)
xa, xb = torch.from_numpy((Xa - m) / s), torch.from_numpy((Xb - m) / s)
ta, tb = torch.from_numpy(ya).double(), torch.from_numpy(yb).double()

w = torch.zeros(30, dtype=torch.float64, requires_grad=True)
b = torch.zeros((), dtype=torch.float64, requires_grad=True)
C = 1.0
solver = torch.optim.LBFGS([w, b], lr=1.0, max_iter=20, history_size=10, line_search_fn="strong_wolfe")


def objective():
    margin = (2 * ta - 1) * (xa @ w + b)
    return torch.logaddexp(torch.zeros_like(margin), -margin).sum() * C + 0.5 * w @ w


def closure():
    solver.zero_grad()
    value = objective()
    value.backward()
    return value


for sweep in range(8):
    value = solver.step(closure)
    size = w.grad.abs().max().item()
    with torch.no_grad():
        acc = (((xb @ w + b) > 0).double() == tb).double().mean().item()
    print(f"sweep {sweep}: objective before {value.item():.6f}  |grad| {size:.2e}  test acc {acc:.4f}")

reference = LogisticRegression(C=C, tol=1e-8, max_iter=5000).fit(xa.numpy(), ya)
gap = np.abs(reference.coef_[0] - w.detach().numpy()).max()
print(f"largest difference to sklearn's weights: {gap:.2e};  sklearn test acc {reference.score(xb.numpy(), yb):.4f}")
