"""Disease progression (sklearn diabetes) with an MLP; keeps the best epoch on validation."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class Regressor(nn.Module):
    def __init__(self, d, width=128):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(d, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.body(x).squeeze(-1)


class BestKeeper:
    """Remembers the weights of the epoch with the lowest validation loss."""

    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.epoch = -1
        self.weights = None

    def update(self, value, epoch, model):
        if value < self.best:
            self.best = value
            self.epoch = epoch
            self.weights = model.state_dict()
        return epoch - self.epoch >= self.patience

    def restore(self, model):
        model.load_state_dict(self.weights)


def prepare(seed=0):
    X, y = load_diabetes(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, random_state=seed)
    X_tr, X_va, y_tr, y_va = train_test_split(X_tr, y_tr, test_size=0.3, random_state=seed)
    sx = StandardScaler().fit(X_tr)
    sy = StandardScaler().fit(y_tr[:, None])
    pack = []
    for a, b in ((X_tr, y_tr), (X_va, y_va), (X_te, y_te)):
        pack.append((torch.tensor(sx.transform(a), dtype=torch.float32),
                     torch.tensor(sy.transform(b[:, None])[:, 0], dtype=torch.float32)))
    return pack


def main():
    torch.manual_seed(0)
    config = {"lr": 1e-3, "batch": 32, "epochs": 400, "patience": 150}
    (xt, yt), (xv, yv), (xe, ye) = prepare()
    model = Regressor(xt.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=config["lr"])
    loss_fn = nn.MSELoss()
    keeper = BestKeeper(config["patience"])

    for epoch in range(config["epochs"]):
        model.train()
        order = torch.randperm(len(xt))
        for s in range(0, len(xt), config["batch"]):
            idx = order[s:s + config["batch"]]
            opt.zero_grad()
            loss = loss_fn(model(xt[idx]), yt[idx])
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            val = loss_fn(model(xv), yv).item()
        if epoch % 20 == 0:
            print(f"epoch {epoch:3d} train {loss.item():.3f} val {val:.3f}")
        if keeper.update(val, epoch, model):
            print("stopping at epoch", epoch)
            break

    keeper.restore(model)
    model.eval()
    with torch.no_grad():
        pred = model(xe).numpy()
    mse = float(np.mean((pred - ye.numpy()) ** 2))
    base = float(np.mean((ye.numpy()) ** 2))
    print(f"best epoch {keeper.epoch} val {keeper.best:.3f}")
    print(f"test MSE {mse:.3f} R2 {r2_score(ye.numpy(), pred):.3f} (predicting the mean {base:.3f})")


if __name__ == "__main__":
    main()
