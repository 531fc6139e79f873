import copy

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(2)
X, y = load_breast_cancer(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.4, stratify=y, random_state=2)
X_val, X_test, y_val, y_test = train_test_split(X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=2)
scaler = StandardScaler().fit(X_train)


def tensors(a, b):
    return torch.tensor(scaler.transform(a), dtype=torch.float32), torch.tensor(b, dtype=torch.float32).unsqueeze(1)


X_train, y_train = tensors(X_train, y_train)
X_val, y_val = tensors(X_val, y_val)
X_test, y_test = tensors(X_test, y_test)

model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
best, best_state, patience = np.inf, None, 0

for epoch in range(60):
    model.train()
    for idx in torch.randperm(len(X_train)).split(32):
        optimizer.zero_grad()
        loss = criterion(model(X_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(X_val), y_val).item()
    if epoch % 5 == 0:
        print(f"epoch {epoch} train {loss.item():.4f} val {val_loss:.4f}")
    if val_loss < best:
        best, best_state, patience = val_loss, copy.deepcopy(model.state_dict()), 0
    else:
        patience += 1
        if patience == 8:
            print("early stop at", epoch)
            break

model.load_state_dict(best_state)
model.eval()
with torch.no_grad():
    acc = ((model(X_test) > 0) == (y_test > 0.5)).float().mean().item()
print("test accuracy", acc)
