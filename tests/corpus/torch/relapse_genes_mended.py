"""Relapse prediction from gene expression: screen probes, then fit a small MLP on the survivors."""
import argparse
import logging

import numpy as np
import torch
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("relapse")


def simulate_cohort(n, n_probes, seed):
    """log2 expression with co-regulated modules; a handful of probes shift with relapse status."""
    effects = np.random.default_rng(99)
    marker = effects.choice(n_probes, size=25, replace=False)
    shift = effects.choice([-1, 1], size=25) * effects.uniform(0.5, 0.8, size=25)
    loading = effects.normal(0, 0.5, size=(20, n_probes))

    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    module = rng.normal(size=(n, 20))
    x = 7 + rng.normal(size=(n, n_probes)) + 0.3 * module @ loading
    x[:, marker] += (y[:, None] - 0.5) * shift
    return x.astype(np.float32), y


class Screen:
    """Scale probes and keep the k with the largest F statistic."""

    def __init__(self, k):
        self.scaler, self.selector = StandardScaler(), SelectKBest(f_classif, k=k)

    def fit(self, x, y):
        self.selector.fit(self.scaler.fit_transform(x), y)
        return self

    def transform(self, x):
        return torch.tensor(self.selector.transform(self.scaler.transform(x)), dtype=torch.float32)


class RiskNet(nn.Module):
    def __init__(self, n_in, hidden=16, p=0.5):
        super().__init__()
        self.net = nn.Sequential(nn.Dropout(0.2), nn.Linear(n_in, hidden), nn.ReLU(), nn.Dropout(p),
                                 nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def fit(net, x, y, epochs, lr):
    opt = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=0.05)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for idx in torch.randperm(len(y)).split(16):
            opt.zero_grad()
            loss = loss_fn(net(x[idx]), y[idx])
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if (epoch + 1) % 10 == 0:
            log.info("epoch %d train loss %.3f", epoch + 1, total / len(y))


@torch.no_grad()
def score(net, x, y):
    net.eval()
    p = torch.sigmoid(net(x)).numpy()
    return roc_auc_score(y, p), float(((p > 0.5) == y).mean())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--patients", type=int, default=200)
    ap.add_argument("--probes", type=int, default=6000)
    ap.add_argument("--keep", type=int, default=80)
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--repeats", type=int, default=5)
    cfg = ap.parse_args()

    x, y = simulate_cohort(cfg.patients, cfg.probes, seed=1)
    results = []
    for rep in range(cfg.repeats):
        torch.manual_seed(rep)
        x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, stratify=y, random_state=rep)
        screen = Screen(cfg.keep).fit(x_tr, y_tr)
        f_tr, f_te = screen.transform(x_tr), screen.transform(x_te)

        net = RiskNet(cfg.keep)
        fit(net, f_tr, torch.tensor(y_tr, dtype=torch.float32), cfg.epochs, lr=2e-3)
        auc, acc = score(net, f_te, y_te)
        base = max(y_te.mean(), 1 - y_te.mean())
        log.info("repeat %d: test AUC %.3f accuracy %.3f (majority %.3f)", rep, auc, acc, base)
        results.append((auc, acc))
    auc, acc = np.mean(results, axis=0)
    print(f"mean test AUC {auc:.3f}   accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
