from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    n_users: int = 300
    n_movies: int = 200
    n_factors: int = 4
    n_ratings: int = 20000
    batch_size: int = 256
    epochs: int = 25
    lr: float = 5e-3
    seed: int = 3


def fake_ratings(cfg):
    """A MovieLens-like frame: user tastes and movie genres decide most of the rating."""
    rng = np.random.default_rng(cfg.seed)
    taste = rng.normal(0, 1, (cfg.n_users, 3))
    genre = rng.normal(0, 0.55, (cfg.n_movies, 3))
    b_u, b_m = rng.normal(0, 0.3, cfg.n_users), rng.normal(0, 0.3, cfg.n_movies)
    cells = rng.choice(cfg.n_users * cfg.n_movies, cfg.n_ratings, replace=False)
    u, m = cells // cfg.n_movies, cells % cfg.n_movies
    r = 3.2 + b_u[u] + b_m[m] + (taste[u] * genre[m]).sum(1) + rng.normal(0, 0.25, len(u))
    return pd.DataFrame({"userId": u, "movieId": m, "rating": np.clip(np.round(r * 2) / 2, 0.5, 5.0)})


class RatingsDataset(Dataset):
    def __init__(self, df):
        self.users = torch.tensor(df["userId"].values)
        self.movies = torch.tensor(df["movieId"].values)
        self.ratings = torch.tensor(df["rating"].values, dtype=torch.float32)

    def __len__(self):
        return len(self.ratings)

    def __getitem__(self, idx):
        return self.users[idx], self.movies[idx], self.ratings[idx]


class MatrixFactorization(nn.Module):
    def __init__(self, n_users, n_movies, n_factors, mean_rating):
        super().__init__()
        self.user_factors = torch.randn(n_users, n_factors).mul_(0.1).requires_grad_()
        self.movie_factors = torch.randn(n_movies, n_factors).mul_(0.1).requires_grad_()
        self.user_bias = nn.Embedding(n_users, 1)
        self.movie_bias = nn.Embedding(n_movies, 1)
        self.mean_rating = mean_rating
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.movie_bias.weight)

    def forward(self, user, movie):
        dot = (self.user_factors[user] * self.movie_factors[movie]).sum(1)
        bias = self.user_bias(user).squeeze(1) + self.movie_bias(movie).squeeze(1)
        return self.mean_rating + bias + dot


def rmse(model, loader):
    model.eval()
    se, n = 0.0, 0
    with torch.no_grad():
        for user, movie, rating in loader:
            se += ((model(user, movie) - rating) ** 2).sum().item()
            n += len(rating)
    return (se / n) ** 0.5


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    df = fake_ratings(cfg).sample(frac=1.0, random_state=cfg.seed)
    cut = int(0.85 * len(df))
    train_df, test_df = df[:cut], df[cut:]
    train_loader = DataLoader(RatingsDataset(train_df), batch_size=cfg.batch_size, shuffle=True)
    test_loader = DataLoader(RatingsDataset(test_df), batch_size=1024)

    mean_rating = float(train_df["rating"].mean())
    print("predicting the mean, rmse:", round(float(((test_df["rating"] - mean_rating) ** 2).mean() ** 0.5), 3))

    model = MatrixFactorization(cfg.n_users, cfg.n_movies, cfg.n_factors, mean_rating)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    loss_fn = nn.MSELoss()

    for epoch in range(1, cfg.epochs + 1):
        model.train()
        total = 0.0
        for user, movie, rating in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(user, movie), rating)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rating)
        if epoch % 5 == 0:
            print(f"epoch {epoch:3d}  train mse {total / cut:.4f}  test rmse {rmse(model, test_loader):.4f}")


if __name__ == "__main__":
    main()
