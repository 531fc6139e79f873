# %% [markdown]
# Biased matrix factorisation for star ratings, split by time.

# %%
import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(11)
torch.manual_seed(11)

# %% fake ratings table (what the export from the warehouse looks like)
N_USERS, N_MOVIES, N_ROWS, D = 500, 240, 40_000, 3
pu = rng.normal(0, 1, (N_USERS, D))
qm = rng.normal(0, 1, (N_MOVIES, D))
bu = rng.normal(0, 0.35, N_USERS)
bm = rng.normal(0, 0.45, N_MOVIES)
popularity = rng.dirichlet(np.full(N_MOVIES, 2.0))
uu = rng.integers(0, N_USERS, N_ROWS)
mm = rng.choice(N_MOVIES, N_ROWS, p=popularity)
score = 3.4 + bu[uu] + bm[mm] + 0.45 * (pu[uu] * qm[mm]).sum(1) + rng.normal(0, 0.35, N_ROWS)
ratings = pd.DataFrame({
    "user_id": [f"u{7919 * u % 99991:05d}" for u in uu],
    "movie_id": [f"tt{104729 * m % 999983:07d}" for m in mm],
    "stars": np.clip(np.round(score * 2) / 2, 0.5, 5.0),
    "ts": np.sort(rng.integers(1_600_000_000, 1_640_000_000, N_ROWS)),
}).drop_duplicates(["user_id", "movie_id"], keep="last").reset_index(drop=True)
print(ratings.head())


# %%
def add_codes(frame):
    """Integer codes for the embedding tables."""
    frame = frame.copy()
    frame["u"] = pd.factorize(frame["user_id"])[0]
    frame["m"] = pd.factorize(frame["movie_id"])[0]
    return frame


def time_split(frame, test_share=0.2):
    """Oldest rows for training, newest for testing; only users and movies already seen are tested."""
    frame = frame.sort_values("ts")
    cut = int(len(frame) * (1 - test_share))
    old, new = frame.iloc[:cut], frame.iloc[cut:]
    known = new["user_id"].isin(old["user_id"]) & new["movie_id"].isin(old["movie_id"])
    return old, new[known]


ratings = add_codes(ratings)
train_df, test_df = time_split(ratings)
n_users = ratings["user_id"].nunique()
n_movies = ratings["movie_id"].nunique()
print(f"{len(train_df)} train rows, {len(test_df)} test rows, {n_users} users, {n_movies} movies")


# %%
def to_tensors(frame):
    return (torch.tensor(frame["u"].to_numpy()), torch.tensor(frame["m"].to_numpy()),
            torch.tensor(frame["stars"].to_numpy(), dtype=torch.float32))


class BiasedMF(nn.Module):
    def __init__(self, n_users, n_movies, mean, dim=8):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.movie = nn.Embedding(n_movies, dim)
        self.user_bias = nn.Embedding(n_users, 1)
        self.movie_bias = nn.Embedding(n_movies, 1)
        self.mean = mean
        for emb in (self.user, self.movie):
            nn.init.normal_(emb.weight, std=0.1)
        for emb in (self.user_bias, self.movie_bias):
            nn.init.zeros_(emb.weight)

    def forward(self, u, m):
        inter = (self.user(u) * self.movie(m)).sum(-1)
        return self.mean + inter + self.user_bias(u).squeeze(-1) + self.movie_bias(m).squeeze(-1)


def rmse(model, data):
    model.eval()
    with torch.no_grad():
        u, m, y = data
        return (model(u, m).clamp(0.5, 5.0) - y).pow(2).mean().sqrt().item()


# %%
train, test = to_tensors(train_df), to_tensors(test_df)
model = BiasedMF(n_users, n_movies, mean=float(train[2].mean()))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
penalty, batch = 0.03, 256

print(f"test rmse of the training mean: {(test[2] - train[2].mean()).pow(2).mean().sqrt():.4f}")
for epoch in range(8):
    model.train()
    order = torch.randperm(len(train[2]))
    running = 0.0
    for idx in order.split(batch):
        u, m, y = (t[idx] for t in train)
        err = (model(u, m) - y).pow(2).mean()
        reg = (model.user(u).pow(2).sum(-1) + model.movie(m).pow(2).sum(-1)).mean()
        loss = err + penalty * reg
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += err.item() * len(idx)
    print(f"epoch {epoch:2d}  train rmse {(running / len(train[2])) ** 0.5:.4f}  test rmse {rmse(model, test):.4f}")

# %%
print(f"final test rmse {rmse(model, test):.4f}")
