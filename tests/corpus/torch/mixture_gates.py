"""Mixture of experts with a probability-level mixture and a balance term."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Experts:
    """Thin holder; the weights are stacked so that all experts run in one einsum."""

    def __init__(self, k, d_in, d_hidden, d_out):
        self.w1 = nn.Parameter(torch.randn(k, d_in, d_hidden) * (2 / d_in) ** 0.5)
        self.b1 = nn.Parameter(torch.zeros(k, 1, d_hidden))
        self.w2 = nn.Parameter(torch.randn(k, d_hidden, d_out) * (1 / d_hidden) ** 0.5)

    def items(self):
        return {"w1": self.w1, "b1": self.b1, "w2": self.w2}.items()

    def __call__(self, x):
        h = torch.relu(torch.einsum("nd,kdh->knh", x, self.w1) + self.b1)
        return torch.einsum("knh,kho->nko", h, self.w2)


class Mixture(nn.Module):
    def __init__(self, k=4, d_in=64, d_hidden=24, n_classes=10):
        super().__init__()
        self.experts = Experts(k, d_in, d_hidden, n_classes)
        for name, p in self.experts.items():
            self.register_parameter(f"experts_{name}", p)
        self.gate = nn.Linear(d_in, k)

    def forward(self, x):
        g = self.gate(x).softmax(-1)
        probs = (g.unsqueeze(-1) * self.experts(x).softmax(-1)).sum(1)
        return probs, g


def objective(probs, g, y, balance):
    nll = F.nll_loss(probs.clamp_min(1e-8).log(), y)
    usage = g.mean(0)
    even = (usage * usage.clamp_min(1e-8).log()).sum()
    return nll + balance * even, nll


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=120)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--balance", type=float, default=0.5)
    args = ap.parse_args()

    torch.manual_seed(0)
    X, y = load_digits(return_X_y=True)
    Xtr, Xte, ytr, yte = train_test_split(X / 16.0, y, test_size=0.3, random_state=1, stratify=y)
    Xtr, Xte = (torch.tensor(a, dtype=torch.float32) for a in (Xtr, Xte))
    ytr, yte = torch.tensor(ytr), torch.tensor(yte)

    model = Mixture()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        s_obj = s_nll = 0.0
        for idx in torch.randperm(len(Xtr)).split(64):
            probs, g = model(Xtr[idx])
            loss, nll = objective(probs, g, ytr[idx], args.balance)
            opt.zero_grad()
            loss.backward()
            opt.step()
            s_obj += loss.item() * len(idx)
            s_nll += nll.item() * len(idx)
        if (epoch + 1) % 20 == 0:
            print(f"{epoch + 1:3d}  objective {s_obj / len(Xtr):+.4f}  nll {s_nll / len(Xtr):.4f}")

    model.eval()
    with torch.no_grad():
        probs, g = model(Xte)
    print("test accuracy", round((probs.argmax(1) == yte).float().mean().item(), 4))
    print("gate usage", [round(v, 3) for v in g.mean(0).tolist()])


if __name__ == "__main__":
    main()
