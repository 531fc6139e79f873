"""Default scoring: a network with a scikit-learn style fit method."""
import numpy as np
import torch
from torch import nn
from sklearn.metrics import average_precision_score, roc_auc_score


def loan_book(n, seed):
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10, 0.5, n)
    debt = rng.lognormal(8.5, 0.9, n)
    age = rng.uniform(21, 70, n)
    late = rng.poisson(0.6, n)
    noise = rng.normal(size=(n, 4))
    risk = 1.3 * np.log(debt / income) + 0.9 * late - 0.03 * (age - 45) + 1.2 * (late > 1) * (age < 35)
    p = 1 / (1 + np.exp(-(risk - 2.9)))
    y = (rng.random(n) < p).astype("float32")
    x = np.column_stack([income, debt, age, late, noise]).astype("float32")
    return x, y


class DefaultScorer:
    def __init__(self, hidden=12, rounds=12, l2=2e-3, seed=0):
        self.hidden, self.rounds, self.l2, self.seed = hidden, rounds, l2, seed

    def _prepare(self, x):
        x = x.copy()
        x[:, :2] = np.log(x[:, :2])
        return x

    def fit(self, x, y):
        torch.manual_seed(self.seed)
        x = self._prepare(x)
        self.mean_, self.std_ = x.mean(0), x.std(0)
        xt = torch.tensor((x - self.mean_) / self.std_)
        yt = torch.tensor(y).unsqueeze(1)
        self.net_ = nn.Sequential(nn.Linear(x.shape[1], self.hidden), nn.Tanh(), nn.Linear(self.hidden, 1))
        rate = float(y.mean())
        with torch.no_grad():
            self.net_[2].weight.mul_(0.1)
            self.net_[2].bias.fill_(np.log(rate / (1 - rate)))
        opt = torch.optim.LBFGS(self.net_.parameters(), lr=1.0, max_iter=10, line_search_fn="strong_wolfe")

        def closure():
            opt.zero_grad()
            nll = nn.functional.binary_cross_entropy_with_logits(self.net_(xt), yt, reduction="sum") / len(yt)
            penalty = sum(p.pow(2).sum() for p in self.net_.parameters() if p.dim() > 1)
            total = nll + self.l2 * penalty
            total.backward()
            return total

        for r in range(self.rounds):
            loss = opt.step(closure)
            print(f"round {r:2d} objective {loss.item():.4f}")
        return self

    @torch.no_grad()
    def predict_proba(self, x):
        xt = torch.tensor((self._prepare(x) - self.mean_) / self.std_)
        return torch.sigmoid(self.net_(xt)).squeeze(1).numpy()


xtr, ytr = loan_book(6000, 1)
xte, yte = loan_book(3000, 2)
model = DefaultScorer().fit(xtr, ytr)
p = model.predict_proba(xte)
base = ytr.mean()
brier, brier0 = ((p - yte) ** 2).mean(), ((base - yte) ** 2).mean()
print(f"default rate train {base:.3f} test {yte.mean():.3f}, mean predicted {p.mean():.3f}")
print(f"AUC {roc_auc_score(yte, p):.3f}  average precision {average_precision_score(yte, p):.3f} "
      f"(random {yte.mean():.3f})  Brier {brier:.4f} (constant {brier0:.4f})")
