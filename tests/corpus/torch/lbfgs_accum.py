"""Full-batch L-BFGS on breast-cancer data; the closure accumulates gradients over chunks."""
import torch
from torch import nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
data = load_breast_cancer()
a, b, ya, yb = train_test_split(data.data, data.target, test_size=0.3, stratify=data.target, random_state=0)
mu, sd = a.mean(0), a.std(0)
X_tr, X_te = torch.tensor((a - mu) / sd), torch.tensor((b - mu) / sd)
y_tr, y_te = torch.tensor(ya), torch.tensor(yb)

model = nn.Linear(X_tr.shape[1], 2)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
opt = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=6, history_size=8, line_search_fn="strong_wolfe")
chunks = list(zip(X_tr.split(100), y_tr.split(100)))
L2 = 1e-3


def closure():
    opt.zero_grad()
    total = torch.zeros(())
    for xb, yb_ in chunks:
        part = nn.functional.cross_entropy(model(xb), yb_, reduction="sum") / len(y_tr)
        part.backward()
        total += part.detach()
    reg = L2 * model.weight.square().sum()
    reg.backward()
    return total + reg.detach()


for outer in range(8):
    loss = opt.step(closure)
    with torch.no_grad():
        acc = (model(X_te).argmax(-1) == y_te).double().mean()
    print(f"outer {outer} loss at start {loss.item():.5f} test acc {acc.item():.3f}")
