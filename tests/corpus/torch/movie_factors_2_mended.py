"""Matrix factorisation on user-normalised ratings, with small training callbacks."""
import numpy as np
import pandas as pd
import torch
from torch import nn


def make_ratings(n_users=400, n_items=150, seed=11):
    rng = np.random.default_rng(seed)
    u = rng.normal(0, 1, (n_users, 4))
    v = rng.normal(0, 1, (n_items, 4))
    quality = rng.normal(0, 0.4, n_items)
    rows = []
    for user in range(n_users):
        k = int(np.clip(rng.geometric(1 / 45), 1, n_items))
        for item in rng.choice(n_items, k, replace=False):
            score = 5.5 + 1.2 * u[user] @ v[item] / 2 + quality[item] + rng.normal(0, 0.4)
            rows.append((user, item, float(np.clip(round(score * 2) / 2, 1, 10))))
    return pd.DataFrame(rows, columns=["user", "item", "rating"]).sample(frac=1, random_state=seed)


def user_statistics(train, n_users):
    by_user = train.groupby("user")["rating"]
    stats = pd.DataFrame({"mean": by_user.mean(), "std": by_user.std().fillna(1.0)})
    stats = stats.reindex(range(n_users))
    missing = stats["mean"].isna()
    stats.loc[missing, "mean"] = train["rating"].mean()
    stats.loc[missing, "std"] = train["rating"].std()
    return stats


class Callback:
    def on_epoch_end(self, trainer, epoch, logs):
        pass


class PrintLog(Callback):
    def on_epoch_end(self, trainer, epoch, logs):
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d} " + " ".join(f"{k} {v:.4f}" for k, v in logs.items()))


class KeepBest(Callback):
    def __init__(self):
        self.best, self.state = float("inf"), None

    def on_epoch_end(self, trainer, epoch, logs):
        if logs["val_rmse"] < self.best:
            self.best = logs["val_rmse"]
            self.state = {k: v.clone() for k, v in trainer.model.state_dict().items()}


class Factors(nn.Module):
    def __init__(self, n_users, n_items, dim=8):
        super().__init__()
        self.p = nn.Embedding(n_users, dim)
        self.q = nn.Embedding(n_items, dim)
        self.b = nn.Embedding(n_items, 1)
        nn.init.normal_(self.p.weight, std=0.3)
        nn.init.normal_(self.q.weight, std=0.3)
        nn.init.zeros_(self.b.weight)

    def forward(self, user, item):
        return (self.p(user) * self.q(item)).sum(-1) + self.b(item).squeeze(-1)


class MFTrainer:
    def __init__(self, model, stats, callbacks):
        self.model, self.callbacks = model, callbacks
        self.mean = torch.tensor(stats["mean"].values, dtype=torch.float32)
        self.std = torch.tensor(stats["std"].values, dtype=torch.float32).clamp(min=0.5)
        self.opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-4)

    @staticmethod
    def tensors(df):
        return (torch.tensor(df["user"].values), torch.tensor(df["item"].values),
                torch.tensor(df["rating"].values, dtype=torch.float32))

    def rmse(self, df):
        u, i, r = self.tensors(df)
        with torch.no_grad():
            pred = self.model(u, i) * self.std[u] + self.mean[u]
        return (pred - r).pow(2).mean().sqrt().item()

    def fit(self, train, val, epochs=30, batch=256):
        u, i, r = self.tensors(train)
        z = (r - self.mean[u]) / self.std[u]
        for epoch in range(epochs):
            total = 0.0
            for idx in torch.randperm(len(u)).split(batch):
                self.opt.zero_grad()
                loss = (self.model(u[idx], i[idx]) - z[idx]).pow(2).mean()
                loss.backward()
                self.opt.step()
                total += loss.item() * len(idx)
            logs = {"loss": total / len(u), "val_rmse": self.rmse(val)}
            for cb in self.callbacks:
                cb.on_epoch_end(self, epoch, logs)


if __name__ == "__main__":
    torch.manual_seed(0)
    ratings = make_ratings()
    n_users, n_items = ratings["user"].max() + 1, ratings["item"].max() + 1
    cut = int(0.85 * len(ratings))
    train, val = ratings.iloc[:cut], ratings.iloc[cut:]
    stats = user_statistics(train, n_users)
    keep = KeepBest()
    trainer = MFTrainer(Factors(n_users, n_items), stats, [PrintLog(), keep])
    trainer.fit(train, val)
    if keep.state is not None:
        trainer.model.load_state_dict(keep.state)
    user_mean = val["user"].map(stats["mean"])
    baseline = float(np.sqrt(((user_mean - val["rating"]) ** 2).mean()))
    print(f"user-mean rmse {baseline:.4f}")
    print(f"best val rmse {keep.best:.4f}  final {trainer.rmse(val):.4f}")
