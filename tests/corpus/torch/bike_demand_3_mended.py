# %% [markdown]
# Hourly demand of a bike-share station: weather + calendar -> rentals (in tens)

# %%
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(42)
rng = np.random.default_rng(42)


# %%
def make_table(n):
    hour = rng.integers(0, 24, n)
    weekday = rng.integers(0, 7, n)
    temp = 12 + 9 * np.sin((hour - 9) / 24 * 2 * np.pi) + rng.normal(0, 5, n)
    rain = rng.gamma(0.4, 1.5, n)
    wind = rng.gamma(2.0, 4.0, n)
    work = weekday < 5
    commute = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 17.5) ** 2) / 6)
    leisure = np.exp(-((hour - 14) ** 2) / 18)
    y = 3 + 12 * np.where(work, commute, 0.9 * leisure)
    y = y * (0.5 + 0.03 * np.clip(temp, 0, 28)) * np.exp(-0.25 * rain) - 0.06 * wind
    y = np.maximum(y + rng.normal(0, 0.8, n), 0)
    X = np.column_stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi),
                         np.sin(hour / 12 * 2 * np.pi), np.cos(hour / 12 * 2 * np.pi),
                         work, temp, rain, wind])
    return X.astype("float32"), y.astype("float32")


X, y = make_table(6000)
X_train, y_train = X[:4800], y[:4800]
X_test, y_test = X[4800:], y[4800:]
mu, sd = X_train.mean(0), X_train.std(0)
X_train, X_test = (X_train - mu) / sd, (X_test - mu) / sd


# %%
class HourDataset(Dataset):
    def __init__(self, features, rentals):
        self.features = torch.from_numpy(features)
        self.rentals = torch.from_numpy(rentals)

    def __len__(self):
        return len(self.rentals)

    def __getitem__(self, i):
        return self.features[i], self.rentals[i]


train_loader = DataLoader(HourDataset(X_train, y_train), batch_size=64, shuffle=True, drop_last=True)
test_loader = DataLoader(HourDataset(X_test, y_test), batch_size=200)

# %%
model = nn.Sequential(
    nn.Linear(8, 64), nn.SiLU(),
    nn.Linear(64, 64), nn.SiLU(),
    nn.Linear(64, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=25)

history = []
for epoch in range(25):
    model.train()
    losses = []
    for xb, yb in train_loader:
        pred = model(xb).squeeze(-1)
        loss = ((pred - yb) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    history.append(np.mean(losses))
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:02d}  train mse {history[-1]:.3f}")

# %%
model.eval()
with torch.no_grad():
    y_hat = np.concatenate([model(xb).numpy().ravel() for xb, _ in test_loader])
rmse = np.sqrt(np.mean((y_hat - y_test) ** 2))
rmse_mean = np.sqrt(np.mean((y_train.mean() - y_test) ** 2))
r2 = 1 - rmse ** 2 / np.var(y_test)
print(f"test RMSE {rmse:.3f}  (predict-mean {rmse_mean:.3f})  R2 {r2:.3f}")
