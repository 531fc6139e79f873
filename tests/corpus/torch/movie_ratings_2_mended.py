# %% [markdown]
# # Movie ratings with a factorisation model
# Ratings are generated from hidden tastes; we predict the held-out stars.

# %%
import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(42)
rng = np.random.default_rng(42)
os.makedirs("out", exist_ok=True)

N_USERS, N_MOVIES, N_RATINGS, TASTES = 400, 250, 30_000, 4

# %%
taste = rng.normal(0, 1, (N_USERS, TASTES))
style = rng.normal(0, 1, (N_MOVIES, TASTES))
generosity = rng.normal(0, 0.4, N_USERS)
quality = rng.normal(0, 0.5, N_MOVIES)

popularity = rng.dirichlet(np.full(N_MOVIES, 2.0))
u = rng.integers(0, N_USERS, N_RATINGS)
m = rng.choice(N_MOVIES, N_RATINGS, p=popularity)
stars = 3.3 + generosity[u] + quality[m] + 0.4 * (taste[u] * style[m]).sum(1) + rng.normal(0, 0.4, N_RATINGS)
stars = np.clip(np.round(stars * 2) / 2, 0.5, 5.0)

order = rng.permutation(N_RATINGS)
cut = int(0.85 * N_RATINGS)
tr, te = order[:cut], order[cut:]


def as_dataset(idx):
    return TensorDataset(torch.tensor(u[idx]), torch.tensor(m[idx]),
                         torch.tensor(stars[idx], dtype=torch.float32))


train_loader = DataLoader(as_dataset(tr), batch_size=512, shuffle=True)
test_loader = DataLoader(as_dataset(te), batch_size=4096)


# %%
class Factorisation(nn.Module):
    def __init__(self, n_users, n_movies, dim, mean):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.movie = nn.Embedding(n_movies, dim)
        self.user_bias = nn.Embedding(n_users, 1)
        self.movie_bias = nn.Embedding(n_movies, 1)
        self.register_buffer("mean", torch.tensor(mean))
        for emb in (self.user, self.movie):
            nn.init.normal_(emb.weight, std=0.1)
        for emb in (self.user_bias, self.movie_bias):
            nn.init.zeros_(emb.weight)

    def forward(self, users, movies):
        dot = (self.user(users) * self.movie(movies)).sum(-1)
        return self.mean + dot + self.user_bias(users).squeeze(-1) + self.movie_bias(movies).squeeze(-1)


def test_rmse(model):
    model.eval()
    with torch.no_grad():
        se = sum(((model(a, b) - r) ** 2).sum().item() for a, b, r in test_loader)
    return (se / len(te)) ** 0.5


# %%
mean_rating = float(stars[tr].mean())
model = Factorisation(N_USERS, N_MOVIES, dim=6, mean=mean_rating)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.02)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.93)
mse = nn.MSELoss()

for epoch in range(25):
    model.train()
    running = 0.0
    for users, movies, r in train_loader:
        optimizer.zero_grad()
        loss = mse(model(users, movies), r)
        running += loss.item() * len(r)
        loss.backward()
        optimizer.step()
    scheduler.step()
    if epoch % 4 == 0:
        print(f"epoch {epoch:2d} train MSE {running / len(tr):.4f} test RMSE {test_rmse(model):.4f}")

# %%
print(f"RMSE of the mean rating: {np.sqrt(np.mean((stars[te] - mean_rating) ** 2)):.4f}")
movie_mean = np.array([stars[tr][m[tr] == k].mean() if (m[tr] == k).any() else mean_rating for k in range(N_MOVIES)])
print(f"RMSE of the movie means: {np.sqrt(np.mean((stars[te] - movie_mean[m[te]]) ** 2)):.4f}")
print(f"RMSE of the model:       {test_rmse(model):.4f}")
torch.save(model.state_dict(), "out/factorisation.pt")
