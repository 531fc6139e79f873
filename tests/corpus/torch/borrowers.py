import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.RandomState(0)

N = 2400
income = rng.normal(42000, 11000, N).clip(12000)
loan = rng.uniform(2000, 30000, N)
age = rng.randint(20, 70, N)
years_employed = rng.exponential(5, N)
late_payments = rng.poisson(1.0, N)

risk = 1.2 * (late_payments - 1.0) + 0.00012 * (loan - 16000) - 0.3 * (years_employed - 5) \
    - 0.03 * (age - 45) - 0.00003 * (income - 42000)
default = (risk + rng.logistic(0, 0.3, N) > 0).astype(np.float32)

X = np.column_stack([income, loan, age, years_employed, late_payments]).astype(np.float32)
X_train, X_test = X[:2000], X[2000:]
y_train, y_test = default[:2000], default[2000:]

train_loader = DataLoader(TensorDataset(torch.from_numpy(X_train), torch.from_numpy(y_train)),
                          batch_size=50, shuffle=True)

model = nn.Sequential(
    nn.Linear(5, 32), nn.ReLU(),
    nn.Linear(32, 16), nn.ReLU(),
    nn.Linear(16, 1),
)
criterion = nn.BCEWithLogitsLoss()
optimizer = optim.Adam(model.parameters(), lr=0.003)

for epoch in range(25):
    epoch_loss = 0.0
    model.train()
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        outputs = model(inputs).squeeze(1)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print(f"Epoch {epoch + 1}, loss: {epoch_loss / len(train_loader):.4f}")

model.eval()
with torch.no_grad():
    probs = torch.sigmoid(model(torch.from_numpy(X_test)).squeeze(1)).numpy()
acc = ((probs > 0.5) == (y_test > 0.5)).mean()
print(f"share of defaults {y_test.mean():.3f}")
print(f"test accuracy {acc:.3f}")
