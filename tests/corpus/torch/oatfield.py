import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

np.random.seed(0)
torch.manual_seed(0)

n = 1500
df = pd.DataFrame({
    "rainfall_mm": np.random.normal(520, 90, n),
    "mean_temp": np.random.normal(14, 2.2, n),
    "nitrogen": np.random.uniform(40, 160, n),
    "soil_ph": np.random.normal(6.4, 0.5, n),
    "sown_week": np.random.randint(9, 17, n),
})
df["yield_t"] = (4 + 0.006 * (df.rainfall_mm - 520) - 0.08 * (df.mean_temp - 14) ** 2
                 + 0.015 * (df.nitrogen - 100) + 0.4 * (df.soil_ph - 6.4)
                 - 0.15 * (df.sown_week - 12) + np.random.normal(0, 0.15, n))

X = df.drop(columns="yield_t").values
y = df["yield_t"].values
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_test = scaler.transform(X_test)

train_ds = TensorDataset(torch.tensor(X_train, dtype=torch.float32), torch.tensor(y_train, dtype=torch.float32))
train_dl = DataLoader(train_ds, batch_size=32, shuffle=True)
X_test = torch.tensor(X_test, dtype=torch.float32)


class YieldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 64)
        self.fc2 = nn.Linear(64, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.out(x)


model = YieldModel()
loss_fn = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(1, 41):
    model.train()
    epoch_loss = 0
    for xb, yb in train_dl:
        pred = model(xb)
        loss = loss_fn(pred, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_loss += loss.item()
    if epoch % 5 == 0:
        print(f"epoch {epoch} mse {epoch_loss / len(train_dl):.4f}")

model.eval()
with torch.no_grad():
    pred = model(X_test).squeeze(1).numpy()
rmse = np.sqrt(np.mean((pred - y_test) ** 2))
r2 = 1 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print(f"test RMSE {rmse:.3f} t/ha, R2 {r2:.3f}")
