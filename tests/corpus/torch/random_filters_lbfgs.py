"""Random convolutional features with a trained linear read-out (no learning in the filters).

The read-out is a convex problem, so the whole training set goes through L-BFGS at once.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class RandomFilters(nn.Module):
    """Fixed orthogonal 5x5 filters, rectified in both directions and pooled."""

    def __init__(self, n_filters=24):
        super().__init__()
        weight = torch.empty(n_filters, 1, 5, 5)
        nn.init.orthogonal_(weight)
        self.register_buffer("weight", weight)

    @torch.no_grad()
    def forward(self, x):
        z = F.conv2d(x, self.weight, padding=2)
        z = torch.cat([F.relu(z), F.relu(-z)], dim=1)
        return F.avg_pool2d(z, 2).flatten(1)


class Readout(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.lin = nn.Linear(d, k)
        nn.init.zeros_(self.lin.weight)
        nn.init.zeros_(self.lin.bias)

    def forward(self, x):
        return self.lin(x)


def main():
    torch.manual_seed(1)
    digits = load_digits()
    x = torch.tensor(digits.images / 16.0, dtype=torch.float32)[:, None]
    y = torch.tensor(digits.target)
    tr, te = train_test_split(range(len(y)), test_size=0.3, random_state=3, stratify=digits.target)

    filters = RandomFilters()
    f_train, f_test = filters(x[tr]), filters(x[te])
    mean, std = f_train.mean(0), f_train.std(0) + 1e-3
    f_train, f_test = (f_train - mean) / std, (f_test - mean) / std
    print("features", tuple(f_train.shape))

    head = Readout(f_train.shape[1], 10)
    opt = torch.optim.LBFGS(head.parameters(), lr=1.0, max_iter=10, history_size=10,
                            line_search_fn="strong_wolfe")
    ridge = 1e-3

    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(head(f_train), y[tr]) + ridge * head.lin.weight.pow(2).sum()
        loss.backward()
        return loss

    for outer in range(6):
        loss = opt.step(closure)
        with torch.no_grad():
            grad = max(p.grad.abs().max().item() for p in head.parameters())
            acc = (head(f_test).argmax(1) == y[te]).float().mean().item()
        print(f"outer {outer + 1}: loss at start {loss.item():.4f}  max grad {grad:.2e}  held-out acc {acc:.4f}")

    with torch.no_grad():
        acc = (head(f_test).argmax(1) == y[te]).float().mean().item()
    majority = torch.bincount(y[te]).max().item() / len(te)
    print(f"held-out accuracy {acc:.4f} (majority {majority:.4f})")


if __name__ == "__main__":
    main()
