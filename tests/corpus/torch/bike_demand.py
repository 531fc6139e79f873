import numpy as np
import torch
from torch import nn
from sklearn.metrics import r2_score, mean_absolute_error

# hourly bike rental demand, simulated like the kaggle one
rng = np.random.default_rng(3)
n = 6000
hour = rng.integers(0, 24, n)
temp = rng.normal(15, 8, n)
humidity = rng.uniform(20, 100, n)
wind = rng.gamma(2, 5, n)
workday = rng.integers(0, 2, n)

rush = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 18) ** 2) / 6)
leisure = np.exp(-((hour - 14) ** 2) / 18)
count = 40 + 220 * rush * workday + 150 * leisure * (1 - workday)
count = count + 6 * np.clip(temp, 0, 28) - 0.8 * humidity - 1.5 * wind + rng.normal(0, 12, n)
count = np.clip(count, 0, None)

X = np.stack(
    [
        np.sin(2 * np.pi * hour / 24),
        np.cos(2 * np.pi * hour / 24),
        np.sin(4 * np.pi * hour / 24),
        np.cos(4 * np.pi * hour / 24),
        (temp - 15) / 8,
        (humidity - 60) / 23,
        (wind - 10) / 7,
        workday,
    ],
    axis=1,
).astype("float32")

cut = 5000
X_train, X_test = torch.tensor(X[:cut]), torch.tensor(X[cut:])
y_mean, y_std = count[:cut].mean(), count[:cut].std()
y_train = torch.tensor((count[:cut] - y_mean) / y_std, dtype=torch.float32)
y_test = count[cut:]

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(8, 64),
    nn.ReLU(),
    nn.Linear(64, 64),
    nn.ReLU(),
    nn.Linear(64, 1),
)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)

batch = 64
for epoch in range(30):
    perm = torch.randperm(cut)
    total = 0.0
    for i in range(0, cut, batch):
        idx = perm[i : i + batch]
        xb, yb = X_train[idx], y_train[idx]
        pred = model(xb)
        err = pred - yb
        loss = (err ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 5 == 4:
        print("epoch", epoch + 1, "train mse (standardised)", round(total / cut, 4))

# back to bikes per hour
with torch.no_grad():
    rented = model(X_test).squeeze(1).numpy() * y_std + y_mean

print("MAE  %.1f bikes" % mean_absolute_error(y_test, rented))
print("R2   %.3f" % r2_score(y_test, rented))
