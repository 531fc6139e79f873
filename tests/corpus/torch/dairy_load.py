# %% Power drawn by a dairy, three hours ahead
import numpy as np
import pandas as pd
import torch
from torch import nn

np.random.seed(1)
torch.manual_seed(1)
AHEAD = 3

# %% hourly record
n = 24 * 500
t = np.arange(n)
shock = np.zeros(n)
for k in range(1, n):
    shock[k] = 0.8 * shock[k - 1] + np.random.randn() * 3.0
load = 40 + 6 * np.sin(2 * np.pi * t / 24) + 3 * np.sin(2 * np.pi * t / (24 * 7)) + shock
temp = 12 + 8 * np.sin(2 * np.pi * (t - 2000) / (24 * 365)) + np.random.randn(n)
df = pd.DataFrame({"load": load, "temp": temp}, index=pd.date_range("2022-01-01", periods=n, freq="h"))

# %% features
df["hour_s"] = np.sin(2 * np.pi * df.index.hour / 24)
df["hour_c"] = np.cos(2 * np.pi * df.index.hour / 24)
df["dow_s"] = np.sin(2 * np.pi * df.index.dayofweek / 7)
df["dow_c"] = np.cos(2 * np.pi * df.index.dayofweek / 7)
for lag in (1, 2, 24, 48):
    df[f"lag{lag}"] = df["load"].shift(lag)
for w in (3, 5, 7):
    df[f"smooth{w}"] = df["load"].rolling(w, center=True).mean()
df["target"] = df["load"].shift(-AHEAD)
df = df.dropna()

# %% split by date
cut = int(len(df) * 0.8)
cols = [c for c in df.columns if c != "target"]
mu, sd = df[cols].iloc[:cut].mean(), df[cols].iloc[:cut].std()
tm, ts = df["target"].iloc[:cut].mean(), df["target"].iloc[:cut].std()
X = torch.tensor(((df[cols] - mu) / sd).values, dtype=torch.float32)
y = torch.tensor(((df["target"] - tm) / ts).values, dtype=torch.float32)
Xtr, ytr, Xte, yte = X[:cut], y[:cut], X[cut:], y[cut:]

# %% model
model = nn.Sequential(nn.Linear(len(cols), 64), nn.SiLU(), nn.Linear(64, 32), nn.SiLU(), nn.Linear(32, 1))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=60)

# %% train
for epoch in range(60):
    model.train()
    losses = []
    for idx in torch.randperm(len(Xtr)).split(24):
        pred = model(Xtr[idx]).squeeze(-1)
        loss = nn.functional.mse_loss(pred, ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    sched.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1} train mse {np.mean(losses):.4f}")

# %% report
model.eval()
with torch.no_grad():
    pred = model(Xte).squeeze(-1)
    mae = (pred - yte).abs().mean().item() * ts
    r2 = 1 - ((pred - yte) ** 2).mean().item() / yte.var().item()
persist = (df["load"].iloc[cut:] - df["target"].iloc[cut:]).abs().mean()
print(f"test MAE {mae:.3f} kW, r2 {r2:.3f} (persistence MAE {persist:.3f})")
