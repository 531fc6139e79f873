"""Probability-of-default model on a loan book (tabular MLP)."""
import argparse
import logging

import numpy as np
import torch
from sklearn.metrics import brier_score_loss, log_loss, recall_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("pd-model")


def load_book(n=8000, seed=0):
    """Outcome is +1 for default and -1 for repaid, as in the export of the scoring system."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10.3, 0.5, n)
    amount = rng.lognormal(9.0, 0.7, n)
    term = rng.choice([12, 24, 36, 60], n)
    age = rng.uniform(20, 70, n)
    late = rng.poisson(0.8, n)
    utilisation = rng.beta(2, 3, n)
    burden = amount / income
    z = (1.1 * np.log(burden) + 0.7 * late + 3.0 * (utilisation - 0.4) + 0.012 * term
         - 0.03 * (age - 40) + 0.8 * (late > 1) * (utilisation > 0.6) + 0.3)
    default = rng.random(n) < 1 / (1 + np.exp(-z))
    X = np.column_stack([np.log(income), np.log(amount), term, age, late, utilisation])
    return X.astype("float32"), np.where(default, 1, -1)


class PDNet(nn.Module):
    def __init__(self, d, hidden=48, p=0.1):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Dropout(p),
                                  nn.Linear(hidden, hidden), nn.ReLU())
        self.score = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.score(self.body(x)).squeeze(-1)


def fit(model, loader, epochs, lr):
    criterion = nn.BCEWithLogitsLoss()
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        running = []
        for xb, yb in loader:
            opt.zero_grad(set_to_none=True)
            loss = criterion(model(xb), yb)
            loss.backward()
            opt.step()
            running.append(loss.item())
        log.info("epoch %d  loss %.4f", epoch + 1, float(np.mean(running)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--seed", type=int, default=0)
    a = ap.parse_args()
    torch.manual_seed(a.seed)

    X, outcome = load_book(seed=a.seed)
    X_tr, X_te, o_tr, o_te = train_test_split(X, outcome, test_size=0.25, random_state=a.seed,
                                              stratify=outcome)
    scaler = StandardScaler().fit(X_tr)
    x_tr = torch.tensor(scaler.transform(X_tr))
    x_te = torch.tensor(scaler.transform(X_te))
    y_tr = torch.tensor(o_tr == 1, dtype=torch.float32)
    loader = DataLoader(TensorDataset(x_tr, y_tr), batch_size=128, shuffle=True)

    model = PDNet(X.shape[1])
    fit(model, loader, a.epochs, a.lr)

    model.eval()
    with torch.no_grad():
        pd = torch.sigmoid(model(x_te)).numpy().astype("float64")
    hit = o_te == 1
    rate = hit.mean()
    log.info("portfolio default rate %.3f, mean predicted PD %.3f", rate, pd.mean())
    log.info("AUC %.3f  recall@0.5 %.3f", roc_auc_score(hit, pd), recall_score(hit, pd > 0.5))
    log.info("log-loss %.3f (constant-rate %.3f)  Brier %.3f (constant-rate %.3f)",
             log_loss(hit, pd), log_loss(hit, np.full(len(hit), rate)),
             brier_score_loss(hit, pd), rate * (1 - rate))


if __name__ == "__main__":
    main()
