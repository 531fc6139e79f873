import argparse

import numpy as np
import torch
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, Dataset


class PatientDataset(Dataset):
    def __init__(self, features, target):
        self.features = torch.as_tensor(features, dtype=torch.float32)
        self.target = torch.as_tensor(target, dtype=torch.float32)

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return self.features[i], self.target[i]


class ProgressionNet(nn.Module):
    def __init__(self, n_in, width, drop):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, width), nn.ReLU(), nn.Dropout(drop),
            nn.Linear(width, width // 2), nn.ReLU(),
            nn.Linear(width // 2, 1),
        )

    def forward(self, x):
        return self.layers(x)


def smooth_rmse(pred, target):
    return torch.sqrt(torch.mean((pred - target) ** 2) + 1e-6)


def fit(net, loader, args):
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs)
    for epoch in range(1, args.epochs + 1):
        net.train()
        losses = []
        for xb, yb in loader:
            opt.zero_grad()
            loss = smooth_rmse(net(xb).squeeze(1), yb)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        sched.step()
        if epoch % 10 == 0:
            print(f"epoch {epoch:3d}  train rmse {np.mean(losses):.4f}")


def predict(net, features):
    net.eval()
    with torch.no_grad():
        return net(torch.as_tensor(features, dtype=torch.float32)).numpy().ravel()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=60)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--width", type=int, default=64)
    ap.add_argument("--drop", type=float, default=0.2)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    X, y = load_diabetes(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.2, random_state=args.seed)
    x_scaler = StandardScaler().fit(X_tr)
    y_scaler = StandardScaler().fit(y_tr[:, None])
    train = PatientDataset(x_scaler.transform(X_tr), y_scaler.transform(y_tr[:, None]).ravel())
    loader = DataLoader(train, batch_size=32, shuffle=True)

    net = ProgressionNet(X.shape[1], args.width, args.drop)
    fit(net, loader, args)

    pred = predict(net, x_scaler.transform(X_te))
    pred = y_scaler.inverse_transform(pred[:, None]).ravel()
    print(f"test R2  {r2_score(y_te, pred):.3f}")
    print(f"test MAE {mean_absolute_error(y_te, pred):.2f}")
    print(f"std of predictions {pred.std():.2f}, of targets {y_te.std():.2f}")


if __name__ == "__main__":
    main()
