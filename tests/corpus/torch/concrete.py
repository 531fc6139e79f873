"""Compressive strength of concrete, 5-fold cross-validation."""
import numpy as np
import torch
from sklearn.model_selection import KFold
from torch import nn

SEED = 13
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


def mixes(n):
    cement = rng.uniform(120, 540, n)
    slag = rng.uniform(0, 200, n)
    water = rng.uniform(130, 230, n)
    plasticiser = rng.uniform(0, 20, n)
    age = rng.choice([3, 7, 28, 56, 90], n).astype(float)
    mpa = 9 * np.log1p(age) * ((cement + 0.6 * slag) / water) ** 0.9 * 0.55 + 0.5 * plasticiser + rng.normal(0, 2.5, n)
    return np.stack([cement, slag, water, plasticiser, age], 1), mpa


class Strength(nn.Module):
    def __init__(self, features, hidden=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


X, y = mixes(1000)
device = "cuda" if torch.cuda.is_available() else "cpu"
EPOCHS, BATCH = 25, 32

model = Strength(X.shape[1]).to(device)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

scores = []
for fold, (train_idx, test_idx) in enumerate(KFold(5, shuffle=True, random_state=SEED).split(X)):
    mu, sd = X[train_idx].mean(0), X[train_idx].std(0)
    y_mu, y_sd = y[train_idx].mean(), y[train_idx].std()
    xs = torch.tensor((X - mu) / sd, dtype=torch.float32, device=device)
    ys = torch.tensor((y - y_mu) / y_sd, dtype=torch.float32, device=device)

    model = Strength(X.shape[1]).to(device)
    model.train()
    for epoch in range(EPOCHS):
        losses = []
        for rows in np.array_split(rng.permutation(train_idx), len(train_idx) // BATCH):
            optimizer.zero_grad()
            loss = criterion(model(xs[rows]), ys[rows])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 8 == 0:
            print(f"fold {fold} epoch {epoch:2d} loss {np.mean(losses):.4f}")

    model.eval()
    with torch.no_grad():
        pred = model(xs[test_idx]).cpu().numpy() * y_sd + y_mu
    rmse = float(np.sqrt(np.mean((pred - y[test_idx]) ** 2)))
    scores.append(rmse)
    print(f"fold {fold} rmse {rmse:.2f} MPa (spread {y[test_idx].std():.2f})")
print(f"mean rmse {np.mean(scores):.2f}")
