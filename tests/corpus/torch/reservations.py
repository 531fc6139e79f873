import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load_bookings(n=3000, seed=9):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({
        "arrival": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
        "lead_days": rng.gamma(2.0, 30.0, n).round(),
        "nights": rng.integers(1, 10, n),
        "guests": rng.integers(1, 5, n),
        "deposit": rng.integers(0, 2, n),
        "rate": rng.normal(95, 22, n).round(2),
        "channel": rng.choice(["web", "agent", "phone"], n),
    })
    z = 0.03 * (df.lead_days - 60) - 2.2 * df.deposit + 0.03 * (df.rate - 95) + 1.4 * (df.channel == "agent") + 0.8
    df["cancelled"] = (rng.random(n) < 1 / (1 + np.exp(-1.6 * z))).astype(int)
    return df


def prepare(df):
    target = df.pop("cancelled").to_numpy()
    df = df.sort_values("arrival").reset_index(drop=True)
    df["month"] = df["arrival"].dt.month
    df = pd.get_dummies(df.drop(columns="arrival"), columns=["channel"], dtype=float)
    return df.to_numpy(dtype=np.float32), target.astype(np.float32)


def split_and_scale(X, y, share=0.8):
    cut = int(len(X) * share)
    mean, std = X[:cut].mean(0), X[:cut].std(0)
    X = (X - mean) / std
    return (X[:cut], y[:cut]), (X[cut:], y[cut:])


def auc(scores, y):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = y == 1
    return (ranks[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


def train(model, loader, X_test, y_test, epochs=12):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(epochs):
        model.train()
        epoch_loss = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(xb).squeeze(1), yb)
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * len(xb)
        model.eval()
        with torch.no_grad():
            scores = model(torch.from_numpy(X_test)).squeeze(1).numpy()
        acc = ((scores > 0) == (y_test == 1)).mean()
        print(f"epoch {epoch + 1:2d} loss {epoch_loss / len(loader.dataset):.4f} acc {acc:.3f} auc {auc(scores, y_test):.3f}")


if __name__ == "__main__":
    torch.manual_seed(9)
    X, y = prepare(load_bookings())
    (X_train, y_train), (X_test, y_test) = split_and_scale(X, y)
    loader = DataLoader(TensorDataset(torch.from_numpy(X_train), torch.from_numpy(y_train)), batch_size=64, shuffle=True)
    net = nn.Sequential(nn.Linear(X.shape[1], 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
    train(net, loader, X_test, y_test)
