import pandas as pd
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(4)
torch.manual_seed(4)
n_users, n_movies, k = 400, 250, 4
U, M = np.random.randn(n_users, k) * 0.6, np.random.randn(n_movies, k) * 0.6
bu, bm = np.random.randn(n_users) * 0.3, np.random.randn(n_movies) * 0.5
u = np.random.randint(0, n_users, 32000)
m = np.random.randint(0, n_movies, 32000)
score = 3.4 + bu[u] + bm[m] + (U[u] * M[m]).sum(1) + np.random.randn(32000) * 0.4
ratings = pd.DataFrame({"userId": u * 7 + 1001, "movieId": m * 13 + 5, "rating": np.clip(np.round(score * 2) / 2, 0.5, 5)})
ratings = ratings.drop_duplicates(["userId", "movieId"]).sample(frac=1, random_state=0)

ratings["u"] = ratings["userId"].astype("category").cat.codes
ratings["m"] = ratings["movieId"].astype("category").cat.codes
cut = int(len(ratings) * 0.85)
train_df, test_df = ratings.iloc[:cut], ratings.iloc[cut:]


def to_ds(df):
    return TensorDataset(torch.tensor(df["u"].values, dtype=torch.long), torch.tensor(df["m"].values, dtype=torch.long),
                         torch.tensor(df["rating"].values, dtype=torch.float32))


class MF(nn.Module):
    def __init__(self, n_users, n_movies, dim, mu):
        super().__init__()
        self.user, self.movie = nn.Embedding(n_users, dim), nn.Embedding(n_movies, dim)
        self.user_bias, self.movie_bias = nn.Embedding(n_users, 1), nn.Embedding(n_movies, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.movie.weight, std=0.1)
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.movie_bias.weight)
        self.mu = mu

    def forward(self, u, m):
        dot = (self.user(u) * self.movie(m)).sum(-1)
        return self.mu + dot + self.user_bias(u).squeeze(-1) + self.movie_bias(m).squeeze(-1)


model = MF(ratings["u"].max() + 1, ratings["m"].max() + 1, 6, float(train_df["rating"].mean()))
opt = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.2)
train_dl = DataLoader(to_ds(train_df), batch_size=256, shuffle=True)
test_dl = DataLoader(to_ds(test_df), batch_size=1024)
print("RMSE of the mean rating: %.3f" % np.sqrt(((test_df["rating"] - train_df["rating"].mean()) ** 2).mean()))

for epoch in range(15):
    model.train()
    se = 0.0
    for u, m, r in train_dl:
        loss = nn.functional.mse_loss(model(u, m), r)
        opt.zero_grad()
        loss.backward()
        opt.step()
        se += loss.item() * len(r)
    model.eval()
    with torch.no_grad():
        test_se = sum(((model(u, m) - r) ** 2).sum().item() for u, m, r in test_dl)
    print(f"epoch {epoch + 1:2d}  train RMSE {(se / len(train_df)) ** 0.5:.3f}  test RMSE {(test_se / len(test_df)) ** 0.5:.3f}")
