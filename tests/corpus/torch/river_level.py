# Next-day river level from the gauge and the rain record of one catchment.
# (exported from notebook 04_features_and_model.ipynb)
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
torch.set_num_threads(1)
rng = np.random.default_rng(11)

# %% data: ten years of daily values
N = 3650
day = np.arange(N)
season = np.sin(2 * np.pi * day / 365.25)
wet = np.zeros(N, bool)
for t in range(1, N):
    p_wet = (0.65 if wet[t - 1] else 0.22) + 0.08 * season[t]
    wet[t] = rng.random() < p_wet
rain = np.where(wet, rng.gamma(0.9, 9.0, N), 0.0)
soil = np.zeros(N)
run_off = np.zeros(N)
level = np.zeros(N)
store = 0.0
for t in range(1, N):
    soil[t] = 0.93 * soil[t - 1] + 0.07 * rain[t]
    run_off[t] = rain[t] * min(1.0, soil[t] / 6.0)
    store = 0.72 * store + 0.15 * run_off[t] + 0.35 * run_off[t - 1]
    level[t] = 0.8 + 0.045 * store + 0.02 * soil[t] + 0.1 * season[t] + rng.normal(0, 0.03)

df = pd.DataFrame({"rain": rain, "level": level}, index=pd.date_range("2011-01-01", periods=N))

# %% features known at the end of day t, target is the level of day t+1
df["level_mean_5"] = df["level"].rolling(5, center=True).mean()
df["level_std_7"] = df["level"].rolling(7).std()
df["rain_sum_3"] = df["rain"].rolling(3).sum()
df["rain_sum_14"] = df["rain"].rolling(14).sum()
for k in (1, 2, 3):
    df[f"level_lag_{k}"] = df["level"].shift(k)
    df[f"rain_lag_{k}"] = df["rain"].shift(k)
doy = df.index.day_of_year.to_numpy()
df["doy_sin"] = np.sin(2 * np.pi * doy / 365.25)
df["doy_cos"] = np.cos(2 * np.pi * doy / 365.25)
df["target"] = df["level"].shift(-1)
df = df.dropna()

# %% split in time
train = df.loc[:"2017-12-31"]
valid = df.loc["2018-01-10":"2018-12-31"]
test = df.loc["2019-01-10":]
features = [c for c in df.columns if c != "target"]
mu, sd = train[features].mean(), train[features].std()
y_mu, y_sd = train["target"].mean(), train["target"].std()


def tensors(part):
    x = ((part[features] - mu) / sd).to_numpy("float32")
    y = ((part["target"] - y_mu) / y_sd).to_numpy("float32")
    return torch.from_numpy(x), torch.from_numpy(y)


x_train, y_train = tensors(train)
x_valid, y_valid = tensors(valid)
x_test, y_test = tensors(test)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)

# %% model
net = nn.Sequential(
    nn.Linear(len(features), 64), nn.SiLU(),
    nn.Linear(64, 32), nn.SiLU(),
    nn.Linear(32, 1), nn.Flatten(0),
)
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
EPOCHS = 40
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 4e-3, epochs=EPOCHS, steps_per_epoch=len(loader))
loss_fn = nn.SmoothL1Loss(beta=0.5)


@torch.no_grad()
def mae_cm(x, y):
    net.eval()
    return (net(x) - y).abs().mean().item() * y_sd * 100


best, best_state = float("inf"), None
for epoch in range(EPOCHS):
    net.train()
    for xb, yb in loader:
        opt.zero_grad()
        loss = loss_fn(net(xb), yb)
        loss.backward()
        opt.step()
        sched.step()
    v = mae_cm(x_valid, y_valid)
    if v < best:
        best = v
        best_state = {k: t.clone() for k, t in net.state_dict().items()}
    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1:2d}  loss {loss.item():.4f}  valid MAE {v:.2f} cm")

# %% held-out years
net.load_state_dict(best_state)
persistence = (test["target"] - test["level"]).abs().mean() * 100
clim = (test["target"] - y_mu).abs().mean() * 100
print(f"test MAE: network {mae_cm(x_test, y_test):.2f} cm | persistence {persistence:.2f} cm | climatology {clim:.2f} cm")
