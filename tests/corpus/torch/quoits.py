import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

torch.manual_seed(9)
np.random.seed(9)

X, y = load_breast_cancer(return_X_y=True)


class MLP(nn.Module):
    def __init__(self, n_in, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, hidden), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(hidden, 2),
        )

    def forward(self, x):
        return self.net(x)


model = MLP(X.shape[1])
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

scores = []
skf = StratifiedKFold(n_splits=4, shuffle=True, random_state=9)
for fold, (train_idx, val_idx) in enumerate(skf.split(X, y)):
    model = MLP(X.shape[1])
    scaler = StandardScaler().fit(X[train_idx])
    x_train = torch.tensor(scaler.transform(X[train_idx]), dtype=torch.float32)
    x_val = torch.tensor(scaler.transform(X[val_idx]), dtype=torch.float32)
    y_train, y_val = torch.tensor(y[train_idx]), torch.tensor(y[val_idx])

    for epoch in range(15):
        model.train()
        epoch_loss = 0.0
        for batch in torch.randperm(len(x_train)).split(16):
            optimizer.zero_grad()
            loss = criterion(model(x_train[batch]), y_train[batch])
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * len(batch)
        if epoch % 5 == 4:
            print(f"fold {fold} epoch {epoch + 1} loss {epoch_loss / len(x_train):.4f}")

    model.eval()
    with torch.no_grad():
        acc = (model(x_val).argmax(1) == y_val).float().mean().item()
    scores.append(acc)
    print(f"fold {fold}: accuracy {acc:.3f}")

print(f"mean accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")
