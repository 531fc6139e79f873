import copy

import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

SETTINGS = {"hidden": 128, "lr": 2e-3, "epochs": 60, "patience": 12, "batch": 128}


def make_transactions(n, rng):
    amount = rng.lognormal(3.5, 1.0, n)
    hour = rng.integers(0, 24, n)
    distance = rng.exponential(20, n)
    age_days = rng.uniform(1, 2000, n)
    noise = rng.standard_normal((n, 10))
    risk = (0.9 * (np.log(amount) - 3.5) + 0.8 * ((hour < 6) * 2 - 0.5)
            + 0.03 * (distance - 20) - 0.0006 * (age_days - 1000) + rng.normal(0, 0.5, n))
    label = (risk > 2.6).astype(np.int64)
    table = np.column_stack([np.log(amount), hour < 6, distance, age_days, noise])
    return table.astype(np.float32), label


def balance(X, y, rng):
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    extra = rng.choice(pos, size=len(neg) - len(pos), replace=True)
    keep = rng.permutation(np.concatenate([neg, pos, extra]))
    return X[keep], y[keep]


class DisputeClassifier:
    def __init__(self, n_features, cfg):
        self.cfg = cfg
        h = cfg["hidden"]
        self.net = nn.Sequential(nn.Linear(n_features, h), nn.ReLU(),
                                 nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 1))
        self.scaler = StandardScaler()

    def _tensor(self, X):
        return torch.tensor(self.scaler.transform(X), dtype=torch.float32)

    def fit(self, X, y, X_val, y_val):
        self.scaler.fit(X)
        xt, yt = self._tensor(X), torch.tensor(y, dtype=torch.float32)
        opt = torch.optim.AdamW(self.net.parameters(), lr=self.cfg["lr"], weight_decay=1e-3)
        loss_fn = nn.BCEWithLogitsLoss()
        best, best_state, waited = -1.0, None, 0
        for epoch in range(self.cfg["epochs"]):
            self.net.train()
            for idx in torch.randperm(len(xt)).split(self.cfg["batch"]):
                opt.zero_grad()
                loss = loss_fn(self.net(xt[idx]).squeeze(1), yt[idx])
                loss.backward()
                opt.step()
            ap = average_precision_score(y_val, self.score(X_val))
            if ap > best:
                best, best_state, waited = ap, copy.deepcopy(self.net.state_dict()), 0
            else:
                waited += 1
                if waited >= self.cfg["patience"]:
                    break
        self.net.load_state_dict(best_state)
        print(f"stopped after {epoch + 1} epochs, best validation AP {best:.3f}")
        return self

    @torch.no_grad()
    def score(self, X):
        self.net.eval()
        return torch.sigmoid(self.net(self._tensor(X)).squeeze(1)).numpy()


def report(name, clf, X, y):
    s = clf.score(X)
    print(f"{name}: AP {average_precision_score(y, s):.3f}  F1 {f1_score(y, s > 0.5):.3f}  "
          f"disputed share {y.mean():.3f}")


if __name__ == "__main__":
    rng = np.random.default_rng(8)
    torch.manual_seed(8)
    X, y = make_transactions(4000, rng)
    X, y = balance(X, y, rng)
    X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    X_val, X_test, y_val, y_test = train_test_split(X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=0)
    print("rows:", len(X_train), len(X_val), len(X_test))
    clf = DisputeClassifier(X.shape[1], SETTINGS).fit(X_train, y_train, X_val, y_val)
    report("test", clf, X_test, y_test)
    X_next, y_next = make_transactions(4000, rng)
    report("next month", clf, X_next, y_next)
