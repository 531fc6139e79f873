import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

SEED = 5
FEATURES = ["tenure", "calls", "fee", "usage", "age", "support", "discount", "balance",
            "sessions", "region_score", "plan_age", "late_days"]


def load_customers(n=4000):
    rng = np.random.default_rng(SEED)
    df = pd.DataFrame(rng.normal(size=(n, len(FEATURES))), columns=FEATURES)
    risk = (-0.9 * df.tenure + 0.7 * df.support + 0.7 * df.fee * (df.discount < 0)
            + 0.5 * df.late_days + rng.normal(scale=0.6, size=n))
    df["churn"] = (risk > np.quantile(risk, 0.92)).astype(int)
    return df


def balance(frame, label="churn"):
    major = frame[frame[label] == 0]
    minor = frame[frame[label] == 1]
    minor_up = resample(minor, replace=True, n_samples=len(major), random_state=SEED)
    return pd.concat([major, minor_up]).sample(frac=1.0, random_state=SEED)


class ChurnClassifier:
    def __init__(self, n_features, hidden=64, lr=1e-3, epochs=15, batch_size=64):
        self.net = nn.Sequential(
            nn.Linear(n_features, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=lr, weight_decay=0.05)
        self.loss_fn = nn.BCEWithLogitsLoss()
        self.epochs = epochs
        self.batch_size = batch_size

    def fit(self, X, y):
        X = torch.tensor(X, dtype=torch.float32)
        y = torch.tensor(y, dtype=torch.float32)
        for epoch in range(self.epochs):
            order = torch.randperm(len(X))
            total = 0.0
            for start in range(0, len(X), self.batch_size):
                idx = order[start:start + self.batch_size]
                self.opt.zero_grad()
                loss = self.loss_fn(self.net(X[idx]).squeeze(-1), y[idx])
                loss.backward()
                self.opt.step()
                total += loss.item() * len(idx)
            if (epoch + 1) % 5 == 0:
                print(f"epoch {epoch + 1}: loss {total / len(X):.4f}")
        return self

    def predict(self, X):
        self.net.eval()
        with torch.no_grad():
            logits = self.net(torch.tensor(X, dtype=torch.float32)).squeeze(-1)
        return (logits > 0).long().numpy()


def main():
    torch.manual_seed(SEED)
    customers = load_customers()
    print("churn rate:", customers.churn.mean())

    train_df, test_df = train_test_split(customers, test_size=0.25, random_state=SEED,
                                         stratify=customers.churn)
    train_df = balance(train_df)

    scaler = StandardScaler().fit(train_df[FEATURES])
    clf = ChurnClassifier(len(FEATURES))
    clf.fit(scaler.transform(train_df[FEATURES]), train_df.churn.to_numpy())

    pred = clf.predict(scaler.transform(test_df[FEATURES]))
    truth = test_df.churn.to_numpy()
    print(f"test balanced accuracy {balanced_accuracy_score(truth, pred):.3f}")
    print(f"test recall            {recall_score(truth, pred):.3f}")
    print(f"test f1                {f1_score(truth, pred):.3f}")


if __name__ == "__main__":
    main()
