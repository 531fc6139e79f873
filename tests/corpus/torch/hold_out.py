import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

SEED = 2024
torch.manual_seed(SEED)

# ---------- data ----------
X, y = make_friedman1(n_samples=4000, n_features=10, noise=1.0, random_state=SEED)
X_train, X_hold, y_train, y_hold = train_test_split(X, y, test_size=0.25, random_state=SEED)
x_sc = StandardScaler().fit(X_train)
y_sc = StandardScaler().fit(y_train[:, None])


def make_loader(features, target, batch_size=64, shuffle=True, drop_last=False):
    f = torch.tensor(x_sc.transform(features), dtype=torch.float32)
    t = torch.tensor(y_sc.transform(target[:, None]), dtype=torch.float32)
    return DataLoader(TensorDataset(f, t), batch_size=batch_size, shuffle=shuffle, drop_last=drop_last)


loaders = {
    "train": make_loader(X_train, y_train, drop_last=True),
    "hold": make_loader(X_hold, y_hold, batch_size=256),
}


# ---------- model ----------
class Block(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.body = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.GELU(), nn.Dropout(p), nn.Linear(2 * d, d))

    def forward(self, x):
        return x + self.body(x)


model = nn.Sequential(nn.Linear(10, 48), Block(48, 0.05), Block(48, 0.05), nn.LayerNorm(48), nn.Linear(48, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=25)
criterion = nn.SmoothL1Loss()


def predict(net, loader):
    net.eval()
    chunks = []
    with torch.no_grad():
        for xb, _ in loader:
            chunks.append(net(xb).numpy())
    return y_sc.inverse_transform(np.concatenate(chunks)).ravel()


# ---------- training ----------
for epoch in range(25):
    model.train()
    running = 0.0
    for xb, yb in loaders["train"]:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        running += loss.item()
    scheduler.step()
    if epoch % 4 == 0 or epoch == 24:
        y_hat = predict(model, loaders["hold"])
        print(f"[{epoch:02d}] train loss {running / len(loaders['train']):.4f} | "
              f"R2 {r2_score(y_hold, y_hat):+.3f} | MAE {mean_absolute_error(y_hold, y_hat):.3f}")

y_hat = predict(model, loaders["hold"])
print("first rows:")
for a, b in list(zip(y_hold, y_hat))[:6]:
    print(f"   true {a:6.2f}   predicted {b:6.2f}")
print("baseline MAE (mean of train):", round(mean_absolute_error(y_hold, np.full_like(y_hold, y_train.mean())), 3))
print("final R2:", round(r2_score(y_hold, y_hat), 3))
