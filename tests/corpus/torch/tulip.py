import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

rng = np.random.default_rng(11)
torch.manual_seed(11)


def make_ratings(n_people=300, n_films=180, n=15000):
    taste = rng.normal(size=(n_people, 3))
    style = rng.normal(size=(n_films, 3))
    p = rng.integers(0, n_people, n)
    f = rng.integers(0, n_films, n)
    score = 3.4 + 0.7 * (taste[p] * style[f]).sum(1) + 0.3 * rng.normal(size=n)
    return pd.DataFrame({
        "person": [f"user_{i:04d}" for i in p],
        "film_id": f + 1,
        "rating": np.clip(np.round(score * 2) / 2, 0.5, 5.0),
    }).drop_duplicates(["person", "film_id"])


class Ratings(Dataset):
    def __init__(self, df):
        self.user = torch.tensor(df["user"].values, dtype=torch.long)
        self.film = torch.tensor(df["film_id"].values, dtype=torch.long)
        self.y = torch.tensor(df["rating"].values, dtype=torch.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.user[i], self.film[i], self.y[i]


class MF(nn.Module):
    def __init__(self, n_users, n_films, dim=8, mu=0.0):
        super().__init__()
        self.u = nn.Embedding(n_users, dim)
        self.f = nn.Embedding(n_films, dim)
        self.bu = nn.Embedding(n_users, 1)
        self.bf = nn.Embedding(n_films, 1)
        for e in (self.u, self.f):
            nn.init.normal_(e.weight, std=0.2)
        for e in (self.bu, self.bf):
            nn.init.zeros_(e.weight)
        self.mu = mu

    def forward(self, u, f):
        return (self.u(u) * self.f(f)).sum(1) + self.bu(u).squeeze(1) + self.bf(f).squeeze(1) + self.mu


df = make_ratings()
df["user"], names = pd.factorize(df["person"])
test = df.sample(frac=0.1, random_state=0)
train = df.drop(test.index)
n_users, n_films = len(names), df["film_id"].nunique()
print(f"{n_users} users, {n_films} films, {len(train)} ratings")

model = MF(n_users, n_films, mu=float(train["rating"].mean()))
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
loader = DataLoader(Ratings(train), batch_size=256, shuffle=True)
held = Ratings(test)
for epoch in range(15):
    total = 0.0
    for u, f, y in loader:
        loss = nn.functional.mse_loss(model(u, f), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    with torch.no_grad():
        rmse = (model(held.user, held.film) - held.y).pow(2).mean().sqrt().item()
    print(f"epoch {epoch:2d} train mse {total / len(train):.3f} test rmse {rmse:.3f}")
print("test std:", round(float(held.y.std()), 3))
