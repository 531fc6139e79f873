# %% churn model, exported from a notebook
import numpy as np
import pandas as pd
import torch
from torch import nn
from sklearn.metrics import average_precision_score, precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

np.random.seed(8)
torch.manual_seed(8)

# %% data
n = 12000
df = pd.DataFrame({
    "tenure": np.random.gamma(2.0, 12.0, n),
    "monthly": np.random.normal(60, 20, n),
    "calls": np.random.poisson(1.5, n),
    "late": np.random.poisson(0.6, n),
    "age": np.random.uniform(18, 80, n),
    "data_gb": np.random.lognormal(1.5, 0.8, n),
})
for i in range(6):
    df[f"survey_{i}"] = np.random.normal(size=n)
score = -0.13 * df.tenure + 0.05 * df.monthly + 0.8 * df.calls + 1.4 * df.late - 6.3
df["churn"] = (np.random.rand(n) < 1 / (1 + np.exp(-score))).astype(int)
print("churn rate", df.churn.mean().round(3))


# %% few churners, so repeat them until the classes are even
def balance(frame):
    pos, neg = frame[frame.churn == 1], frame[frame.churn == 0]
    pos = pos.sample(len(neg), replace=True, random_state=8)
    return pd.concat([pos, neg]).sample(frac=1.0, random_state=8).reset_index(drop=True)


# %% split
train_df, test_df = train_test_split(df, test_size=0.25, random_state=8, stratify=df.churn)
train_df = balance(train_df)
feats = [c for c in df.columns if c != "churn"]
scaler = StandardScaler().fit(train_df[feats])
X = torch.tensor(scaler.transform(train_df[feats]), dtype=torch.float32)
y = torch.tensor(train_df.churn.values, dtype=torch.float32)
Xt = torch.tensor(scaler.transform(test_df[feats]), dtype=torch.float32)
yt = test_df.churn.values

# %% model
net = nn.Sequential(
    nn.Linear(len(feats), 128), nn.ReLU(),
    nn.Linear(128, 64), nn.ReLU(),
    nn.Linear(64, 1),
)
opt = torch.optim.AdamW(net.parameters(), lr=5e-4, weight_decay=1e-2)
lossf = nn.BCEWithLogitsLoss()

# %% train
for epoch in range(10):
    net.train()
    perm = torch.randperm(len(X))
    losses = []
    for b in perm.split(64):
        out = net(X[b]).squeeze(1)
        loss = lossf(out, y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        s = net(Xt).squeeze(1).numpy()
    print(f"{epoch:2d} loss {np.mean(losses):.4f} test auc {roc_auc_score(yt, s):.3f} "
          f"average precision {average_precision_score(yt, s):.3f}")

# %% figure for the report
print("rows train/test", len(train_df), len(test_df))
print("final AUC", round(roc_auc_score(yt, s), 3), "average precision", round(average_precision_score(yt, s), 3),
      "precision", round(precision_score(yt, s > 0), 3), "recall", round(float((s[yt == 1] > 0).mean()), 3))
