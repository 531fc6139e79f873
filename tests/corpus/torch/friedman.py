import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_absolute_error, r2_score

torch.manual_seed(0)
X, y = make_friedman1(n_samples=3000, n_features=10, noise=0.5, random_state=0)
y = (y - y[:2400].mean()) / y[:2400].std()
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32).unsqueeze(1)


def get_loaders(bs=64):
    parts = {"train": (X[:2400], y[:2400]), "valid": (X[2400:], y[2400:])}
    return {k: DataLoader(TensorDataset(*v), batch_size=bs, shuffle=True) for k, v in parts.items()}


def predict(model, loader):
    model.eval()
    out = []
    with torch.no_grad():
        for xb, _ in loader:
            out.append(model(xb))
    return torch.cat(out).squeeze(1).numpy()


def run_epoch(model, loader, loss_fn, opt=None):
    model.train(opt is not None)
    s = 0.0
    with torch.set_grad_enabled(opt is not None):
        for xb, yb in loader:
            loss = loss_fn(model(xb), yb)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            s += loss.item() * len(xb)
    return s / len(loader.dataset)


loaders = get_loaders()
model = nn.Sequential(nn.Linear(10, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.MSELoss()

for epoch in range(30):
    tl = run_epoch(model, loaders["train"], loss_fn, opt)
    vl = run_epoch(model, loaders["valid"], loss_fn)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: train {tl:.4f}  valid {vl:.4f}")

y_pred = predict(model, loaders["valid"])
y_true = np.concatenate([yb.squeeze(1).numpy() for _, yb in loaders["valid"]])
print(f"R2  {r2_score(y_true, y_pred):.3f}")
print(f"MAE {mean_absolute_error(y_true, y_pred):.3f}")
