import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--patience", type=int, default=5)
    p.add_argument("--out", default=os.path.join(tempfile.mkdtemp(), "best.pt"))
    return p.parse_args()


def batches_of_brew(n=1500, seed=11):
    rng = np.random.default_rng(seed)
    sugar = rng.uniform(40, 100, n)
    temp = rng.uniform(18, 30, n)
    days = rng.uniform(4, 20, n)
    starter = rng.uniform(5, 20, n)
    X = np.stack([sugar, temp, days, starter], 1)
    acid = 0.04 * days * np.exp(0.08 * (temp - 24)) + 0.02 * starter - 0.003 * sugar
    y = 4.2 - 1.1 * acid + rng.normal(0, 0.05, n)
    X = (X - X.mean(0)) / X.std(0)
    y = (y - y.mean()) / y.std()
    return torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class PhModel(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def rmse(model, loader):
    model.eval()
    errors = []
    with torch.no_grad():
        for x, y in loader:
            errors.append(((model(x) - y) ** 2).numpy())
    return np.sqrt(np.concatenate(errors).mean())


def main():
    args = get_args()
    torch.manual_seed(0)
    data = TensorDataset(*batches_of_brew())
    train, val, test = random_split(data, [1000, 250, 250])
    train_loader = DataLoader(train, batch_size=32, shuffle=True)
    val_loader = DataLoader(val, batch_size=250)
    test_loader = DataLoader(test, batch_size=250)

    model = PhModel(args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    best, waited = float("inf"), 0
    for epoch in range(1, args.epochs + 1):
        model.train()
        running = 0.0
        for x, y in train_loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item() * len(x)
        score = rmse(model, val_loader)
        print(f"[{epoch:02d}] train mse {running / len(train):.4f}  val rmse {score:.4f}")
        if score < best:
            best, waited = score, 0
            torch.save({"model": model.state_dict(), "args": args, "epoch": epoch, "rmse": score}, args.out)
        else:
            waited += 1
            if waited >= args.patience:
                break

    checkpoint = torch.load(args.out, map_location="cpu")
    model = PhModel(checkpoint["args"].hidden)
    model.load_state_dict(checkpoint["model"])
    print(f"best epoch {checkpoint['epoch']}  test rmse {rmse(model, test_loader):.4f}")


if __name__ == "__main__":
    main()
