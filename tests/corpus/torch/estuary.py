# Water quality class of river stations from land use (one table) and probe readings (another)
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

rs = np.random.RandomState(42)
torch.manual_seed(42)

N = 2400
codes = np.array([f"{a}{b}-{c:04d}" for a, b, c in zip(rs.choice(list("BDEHKMRST"), N), rs.choice(list("AEIOU"), N), range(N))])
rs.shuffle(codes)

# ---- station register, filled in by the field teams
farmland = rs.beta(2, 3, N)
urban = rs.beta(1.5, 5, N)
slope = rs.gamma(2.0, 1.5, N)
load = 2.2 * farmland + 3.0 * urban - 0.15 * slope + rs.normal(0, 0.12, N)
quality = np.digitize(load, np.quantile(load, [0.25, 0.5, 0.75]))
stations = pd.DataFrame({"station": codes, "farmland": farmland, "urban": urban, "slope": slope, "quality": quality})

# ---- probe export, one row per station
nitrate = np.exp(0.6 * load + rs.normal(0, 0.2, N))
oxygen = 11 - 1.5 * load + rs.normal(0, 0.6, N)
temp = rs.normal(12, 3, N)
readings = pd.DataFrame({"station": codes, "nitrate": nitrate, "oxygen": oxygen, "temp": temp})
readings = readings.sample(frac=1, random_state=3)
readings.loc[readings.sample(frac=0.05, random_state=4).index, "temp"] = np.nan

names = ["very good", "good", "moderate", "poor"]
y = stations["quality"].to_numpy()
table = stations.drop(columns="quality").merge(readings, on="station", how="outer")
table["nitrate"] = np.log(table["nitrate"])
table["temp"] = table["temp"].fillna(table["temp"].median())
X = table.drop(columns="station").to_numpy(dtype=np.float32)

print(table.describe().round(2).to_string())
print("classes:", dict(zip(names, np.bincount(y))))

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
scaler = StandardScaler().fit(X_train)
X_train = torch.tensor(scaler.transform(X_train), dtype=torch.float32)
X_test = torch.tensor(scaler.transform(X_test), dtype=torch.float32)
y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)

net = nn.Sequential(
    nn.Linear(X.shape[1], 64), nn.SiLU(), nn.Dropout(0.1),
    nn.Linear(64, 64), nn.SiLU(), nn.Dropout(0.1),
    nn.Linear(64, len(names)),
)
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(40):
    net.train()
    order = torch.randperm(len(X_train))
    seen = 0.0
    for idx in order.split(64):
        optimizer.zero_grad()
        loss = loss_fn(net(X_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        seen += loss.item() * len(idx)
    if epoch % 5 == 4:
        net.eval()
        with torch.no_grad():
            guess = net(X_test).argmax(1)
        bal = balanced_accuracy_score(y_test, guess)
        print(f"epoch {epoch + 1:3d}  train loss {seen / len(X_train):.3f}  balanced accuracy {bal:.3f}")
