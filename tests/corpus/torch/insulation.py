import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(2)
torch.manual_seed(2)

n = 1500
df = pd.DataFrame({
    "floor_area": rng.uniform(40, 220, n),
    "wall_thickness": rng.uniform(10, 60, n),
    "glazing": rng.integers(1, 4, n),
    "year_built": rng.integers(1920, 2021, n),
    "occupants": rng.integers(1, 7, n),
})
df["heat_loss"] = (0.05 * df.floor_area - 0.06 * df.wall_thickness - 0.9 * df.glazing
                   - 0.02 * (df.year_built - 1970) + 0.1 * df.occupants + rng.normal(0, 0.4, n))

X = df.drop(columns="heat_loss").values
y = df["heat_loss"].values
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)

x_scaler = StandardScaler().fit(X_train)
X_train, X_test = x_scaler.transform(X_train), x_scaler.transform(X_test)
y_mean, y_std = y_train.mean(), y_train.std()
y_train, y_test = (y_train - y_mean) / y_std, (y_test - y_mean) / y_std

train_set = TensorDataset(torch.tensor(X_train, dtype=torch.float32), torch.tensor(y_train, dtype=torch.float32))
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
X_test = torch.tensor(X_test, dtype=torch.float32)

model = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(20):
    model.train()
    epoch_loss = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        pred = model(xb)
        loss = criterion(pred, yb)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    if (epoch + 1) % 4 == 0:
        print(f"Epoch {epoch + 1}/20, loss: {epoch_loss / len(train_loader):.4f}")

model.eval()
with torch.no_grad():
    y_pred = model(X_test).numpy().ravel()
r2 = 1 - ((y_test - y_pred) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()
rmse = np.sqrt(((y_test - y_pred) ** 2).mean()) * y_std
print(f"test R2 {r2:.3f}  RMSE {rmse:.3f} kW")
