import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(7)
torch.manual_seed(7)

taste = rng.normal(size=(120, 3))
style = rng.normal(size=(40, 3))
rows = []
for _ in range(6000):
    u, c = rng.integers(120), rng.integers(40)
    score = 3 + taste[u] @ style[c] * 0.6 + rng.normal(0, 0.2)
    rows.append((u + 1, c + 1, round(float(np.clip(score, 1, 5)), 1)))
df = pd.DataFrame(rows, columns=["user_id", "cafe_id", "rating"])

n_users = df["user_id"].nunique()
n_cafes = df["cafe_id"].nunique()
print("users", n_users, "cafes", n_cafes)


class MatrixFactorization(nn.Module):
    def __init__(self, n_users, n_cafes, dim=8):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.cafe = nn.Embedding(n_cafes, dim)
        self.user_bias = nn.Embedding(n_users, 1)
        self.cafe_bias = nn.Embedding(n_cafes, 1)
        self.mean = nn.Parameter(torch.tensor(3.0))
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.cafe.weight, std=0.3)

    def forward(self, u, c):
        dot = (self.user(u) * self.cafe(c)).sum(1)
        return dot + self.user_bias(u).squeeze(1) + self.cafe_bias(c).squeeze(1) + self.mean


data = TensorDataset(torch.tensor(df["user_id"].values), torch.tensor(df["cafe_id"].values),
                     torch.tensor(df["rating"].values, dtype=torch.float32))
train, test = torch.utils.data.random_split(data, [5000, 1000])
loader = DataLoader(train, batch_size=64, shuffle=True)
model = MatrixFactorization(n_users, n_cafes)
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-5)
loss_fn = nn.MSELoss()

for epoch in range(15):
    total = 0.0
    for u, c, r in loader:
        opt.zero_grad()
        loss = loss_fn(model(u, c), r)
        loss.backward()
        opt.step()
        total += loss.item() * len(r)
    print(f"epoch {epoch + 1} mse {total / len(train):.4f}")

model.eval()
with torch.no_grad():
    u, c, r = (torch.stack(col) for col in zip(*test))
    print("test rmse", ((model(u, c) - r) ** 2).mean().sqrt().item(), "baseline", r.std().item())
