"""Which cultivar is this wine from?  Small MLP on the 13 lab measurements."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
np.random.seed(3)

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.3, stratify=y, random_state=3
)

# statistics from the training part only
mu, sd = X_train.mean(), X_train.std()
X_train = (X_train - mu) / sd
X_test = (X_test - mu) / sd

train_ds = TensorDataset(
    torch.tensor(X_train, dtype=torch.float32), torch.tensor(y_train)
)
test_x = torch.tensor(X_test, dtype=torch.float32)
test_y = torch.tensor(y_test)
loader = DataLoader(train_ds, batch_size=16, shuffle=True)


class WineNet(nn.Module):
    def __init__(self, n_in=13, n_hidden=32, n_out=3):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, n_hidden),
            nn.ReLU(),
            nn.Linear(n_hidden, n_hidden),
            nn.ReLU(),
            nn.Linear(n_hidden, n_out),
        )

    def forward(self, x):
        return self.net(x)


model = WineNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(60):
    model.train()
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    if (epoch + 1) % 10 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(test_x).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch + 1:3d}  train loss {total / len(train_ds):.4f}  test acc {acc:.3f}")
