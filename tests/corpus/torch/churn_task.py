import numpy as np
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(11)
torch.manual_seed(11)

n = 4000
income = rng.normal(42000, 11000, n).clip(9000)
age = rng.integers(18, 80, n)
tenure_days = rng.exponential(700, n)
calls = rng.poisson(2.0, n)
discount = rng.integers(0, 2, n)
score = 1.6 * (calls - 2) - 1.1 * (tenure_days - 700) / 700 - 1.2 * (discount - 0.5) + 0.04 * (45 - age)
left = (score + rng.normal(0, 0.5, n) > 0).astype(np.int64)

X = np.column_stack([income, age, tenure_days, calls, discount]).astype(np.float32)
X_train, X_test, y_train, y_test = train_test_split(X, left, test_size=0.25, random_state=0, stratify=left)
print("rows", X_train.shape, "share of leavers", y_train.mean().round(3))

train_loader = DataLoader(TensorDataset(torch.from_numpy(X_train), torch.from_numpy(y_train)), batch_size=64, shuffle=True)
X_test, y_test = torch.from_numpy(X_test), torch.from_numpy(y_test)

model = nn.Sequential(
    nn.Linear(5, 32),
    nn.Tanh(),
    nn.Linear(32, 16),
    nn.Tanh(),
    nn.Linear(16, 2),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(1, 21):
    model.train()
    total = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        acc = (model(X_test).argmax(1) == y_test).float().mean().item()
    if epoch % 4 == 0:
        print(f"epoch {epoch:2d}  loss {total / len(X_train):.4f}  test accuracy {acc:.3f}")
