# %% District heating: the next 24 hours from the last 7 days (notebook export)
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

rng = np.random.default_rng(21)
torch.manual_seed(21)
H, L = 24, 168

# %% three years of hourly data
idx = pd.date_range("2019-01-01", periods=24 * 365 * 3, freq="h")
doy, hour = idx.day_of_year.to_numpy(), idx.hour.to_numpy()
ar = np.zeros(len(idx))
for i in range(1, len(ar)):
    ar[i] = 0.985 * ar[i - 1] + rng.normal(0, 0.55)
temp = 9 - 11 * np.cos(2 * np.pi * (doy - 20) / 365) + 3 * np.sin(2 * np.pi * (hour - 9) / 24) + ar
weekend = (idx.day_of_week >= 5).astype(float)
shape = 6 * np.exp(-0.5 * ((hour - 7) / 1.6) ** 2) * (1 - 0.6 * weekend) + 4 * np.exp(-0.5 * ((hour - 19) / 2.5) ** 2)
load = 12 + 1.7 * np.maximum(0, 16 - temp) + shape * (1 + 0.03 * np.maximum(0, 16 - temp)) + rng.normal(0, 1.6, len(idx))
df = pd.DataFrame({"load": load, "temp": temp, "weekend": weekend, "hour": hour,
                   "lockdown": ((idx >= "2020-03-15") & (idx < "2020-06-01")).astype(float)}, index=idx)
df.loc[df.lockdown == 1, "load"] += 3.0

# %% split by time; scales from the first two years only
cut = 24 * 365 * 2
mu, sd = df.iloc[:cut].mean(), df.iloc[:cut].std()
z = ((df - mu) / sd).astype(np.float32)
print("constant in the last year:", [c for c in df if df[c].iloc[cut:].nunique() == 1])  # lockdown is over


def windows(lo, hi):
    """origin t: history t-L..t-1, target t..t+H-1. Tomorrow's temperature is the forecast the
    utility buys each evening (here the truth plus an error of 1.5 degrees)."""
    hist, fut, tgt, when = [], [], [], []
    for t in range(lo, hi - H + 1, 24):
        hist.append(z[["load", "temp", "lockdown"]].to_numpy()[t - L:t])
        fc = z["temp"].to_numpy()[t:t + H] + rng.normal(0, 1.5 / sd["temp"], H)
        fut.append(np.r_[fc, z["weekend"].iloc[t]])
        tgt.append(z["load"].to_numpy()[t:t + H])
        when.append(t)
    return (torch.tensor(np.array(hist)), torch.tensor(np.array(fut), dtype=torch.float32),
            torch.tensor(np.array(tgt)), np.array(when))


h_tr, f_tr, y_tr, _ = windows(L, cut)
h_te, f_te, y_te, origin = windows(cut, len(df))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = nn.Sequential(nn.Flatten(), nn.Linear(3 * L, 48), nn.ReLU(), nn.Dropout(0.2))
        self.out = nn.Sequential(nn.Linear(48 + 25, 64), nn.ReLU(), nn.Linear(64, H))

    def forward(self, h, f):
        # what is learnt is the departure from the profile of the day before
        return h[:, -H:, 0] + self.out(torch.cat([self.hist(h), f], 1))


# %%
net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.05)
for ep in range(60):
    net.train()
    p = torch.randperm(len(y_tr))
    for b in p.split(32):
        loss = nn.functional.smooth_l1_loss(net(h_tr[b], f_tr[b]), y_tr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if ep == 45:
        opt.param_groups[0]["lr"] = 4e-4
    if ep % 15 == 14:
        print(f"epoch {ep + 1} last batch {loss.item():.4f}")

# %% figures in MW, by hand
net.eval()
with torch.no_grad():
    pred = net(h_te, f_te).numpy() * sd["load"] + mu["load"]
raw = df["load"].to_numpy()
true = np.stack([raw[t:t + H] for t in origin])
rivals = {"net": pred,
          "last hour held": np.repeat(raw[origin - 1][:, None], H, 1),
          "same hour yesterday": np.stack([raw[t - 24:t] for t in origin]),
          "same hour last week": np.stack([raw[t - 168:t - 168 + H] for t in origin])}
mse0 = ((rivals["same hour yesterday"] - true) ** 2).mean()
for k, v in rivals.items():
    e = v - true
    print(f"{k:20s} MAE {np.abs(e).mean():.2f}  R2 {1 - (e ** 2).sum() / ((true - true.mean()) ** 2).sum():.3f}  "
          f"skill vs yesterday {1 - (e ** 2).mean() / mse0:+.3f}")
print("MAE by lead hour:", np.abs(pred - true).mean(0)[[0, 5, 11, 17, 23]].round(2))
