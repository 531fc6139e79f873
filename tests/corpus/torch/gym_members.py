import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import accuracy_score, f1_score
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(42)
torch.manual_seed(42)

# who will renew the gym membership
n = 3000
visits = np.random.poisson(6, n)
months = np.random.randint(1, 48, n)
classes = np.random.binomial(1, 0.4, n)
age = np.random.randint(17, 70, n)
price = np.random.choice([19, 29, 45], n)
score = 0.6 * (visits - 6) + 0.06 * (months - 24) + 1.5 * classes - 0.08 * (price - 29) + 0.3 * np.random.randn(n)
renewed = (score > 0.6).astype(np.int64)

X = np.stack([visits, months, classes, age, price], axis=1).astype(np.float32)
X = (X - X.mean(0)) / X.std(0)
X_train, X_test = torch.tensor(X[:2400]), torch.tensor(X[2400:])
y_train, y_test = torch.tensor(renewed[:2400]), torch.tensor(renewed[2400:])

train_loader = DataLoader(TensorDataset(X_train, y_train), batch_size=32, shuffle=True)
test_loader = DataLoader(TensorDataset(X_test, y_test), batch_size=32, shuffle=True)

model = nn.Sequential(
    nn.Linear(5, 32),
    nn.ReLU(),
    nn.Dropout(0.1),
    nn.Linear(32, 16),
    nn.ReLU(),
    nn.Linear(16, 2),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def predict(model, loader):
    model.eval()
    out = []
    with torch.no_grad():
        for xb, _ in loader:
            out.append(model(xb).argmax(dim=1))
    return torch.cat(out).numpy()


for epoch in range(15):
    model.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()

    y_pred = predict(model, test_loader)
    y_true = torch.cat([yb for _, yb in test_loader]).numpy()
    print(f"Epoch {epoch + 1}: loss={running / len(train_loader):.4f} "
          f"acc={accuracy_score(y_true, y_pred):.3f} f1={f1_score(y_true, y_pred):.3f}")
