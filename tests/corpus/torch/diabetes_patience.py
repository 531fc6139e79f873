"""Regress disease progression; keep the weights of the epoch with the lowest validation loss."""
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(2)

X, y = load_diabetes(return_X_y=True)
X_dev, X_test, y_dev, y_test = train_test_split(X, y, test_size=0.25, random_state=2)
X_train, X_val, y_train, y_val = train_test_split(X_dev, y_dev, test_size=0.3, random_state=2)

scaler = StandardScaler().fit(X_train)
y_mean, y_std = y_train.mean(), y_train.std()


def to_tensors(features, target):
    a = torch.tensor(scaler.transform(features), dtype=torch.float32)
    b = torch.tensor((target - y_mean) / y_std, dtype=torch.float32).unsqueeze(1)
    return a, b


xtr, ytr = to_tensors(X_train, y_train)
xva, yva = to_tensors(X_val, y_val)
xte, yte = to_tensors(X_test, y_test)

model = nn.Sequential(
    nn.Linear(xtr.shape[1], 64), nn.ReLU(),
    nn.Linear(64, 64), nn.ReLU(),
    nn.Linear(64, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.MSELoss()

best_val = float("inf")
best_epoch = -1
best_weights = None
patience, waited = 150, 0

for epoch in range(600):
    model.train()
    perm = torch.randperm(len(xtr))
    for i in range(0, len(perm), 32):
        idx = perm[i:i + 32]
        optimizer.zero_grad()
        loss = loss_fn(model(xtr[idx]), ytr[idx])
        loss.backward()
        optimizer.step()

    model.eval()
    with torch.no_grad():
        val = loss_fn(model(xva), yva).item()
        tr = loss_fn(model(xtr), ytr).item()
    if val < best_val:
        best_val, best_epoch, waited = val, epoch, 0
        best_weights = model.state_dict()
    else:
        waited += 1
        if waited >= patience:
            print(f"stopping at epoch {epoch}")
            break
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d}  train {tr:.3f}  val {val:.3f}")

print(f"best validation loss {best_val:.3f} at epoch {best_epoch}")
model.load_state_dict(best_weights)
model.eval()
with torch.no_grad():
    print(f"validation loss of the restored model {loss_fn(model(xva), yva).item():.3f}")
    pred = model(xte).squeeze(1).numpy() * y_std + y_mean
print(f"test RMSE {mean_squared_error(y_test, pred) ** 0.5:.1f}   test R2 {r2_score(y_test, pred):.3f}")
