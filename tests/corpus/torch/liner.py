import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(4)
torch.manual_seed(4)


def read_passengers(n=1200):
    sex = np.random.choice(["male", "female"], n, p=[0.6, 0.4])
    pclass = np.random.choice([1, 2, 3], n, p=[0.25, 0.25, 0.5])
    age = np.clip(np.random.normal(31, 13, n), 1, 80).round()
    fare = np.random.lognormal(4.2 - 0.7 * pclass, 0.4)
    sibsp = np.random.poisson(0.5, n)
    score = 3.2 * (sex == "female") - 1.3 * (pclass - 2) - 0.05 * (age - 30) - 1.6
    survived = (np.random.rand(n) < 1 / (1 + np.exp(-1.5 * score))).astype(int)
    age[np.random.rand(n) < 0.2] = np.nan
    return pd.DataFrame(dict(Survived=survived, Pclass=pclass, Sex=sex, Age=age, SibSp=sibsp, Fare=fare))


df = read_passengers()
df["Sex"] = df["Sex"].map({"male": 0, "female": 1})
df["Fare"] = np.log1p(df["Fare"])
features = ["Pclass", "Sex", "Age", "SibSp", "Fare"]
df[features] = (df[features] - df[features].mean()) / df[features].std()

train = df.sample(frac=0.8, random_state=4)
test = df.drop(train.index)
X_train = torch.tensor(train[features].values, dtype=torch.float32)
y_train = torch.tensor(train["Survived"].values, dtype=torch.float32)
X_test = torch.tensor(test[features].values, dtype=torch.float32)
y_test = torch.tensor(test["Survived"].values, dtype=torch.float32)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(len(features), 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x))).squeeze(1)


net = Net()
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

for epoch in range(20):
    net.train()
    total_loss = 0.0
    perm = torch.randperm(len(X_train))
    for i in range(0, len(perm), 32):
        b = perm[i:i + 32]
        optimizer.zero_grad()
        loss = loss_fn(net(X_train[b]), y_train[b])
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(b)
    net.eval()
    with torch.no_grad():
        pred = (net(X_test) > 0).float()
    acc = (pred == y_test).float().mean().item()
    print(f"epoch {epoch + 1}: loss {total_loss / len(X_train):.4f}, test accuracy {acc:.3f}")
