import argparse
import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader, random_split


def load_wines(n=2000, seed=7):
    rng = np.random.default_rng(seed)
    acidity = rng.normal(6.8, 0.9, n)
    sugar = rng.gamma(3.0, 2.0, n)
    alcohol = rng.normal(15.5, 1.2, n)
    sulphates = rng.normal(0.6, 0.15, n)
    age = rng.integers(1, 20, n)
    taste = (0.9 * (alcohol - 15.5) - 1.1 * (acidity - 6.8) + 0.12 * (age - 10)
             + 2.0 * (sulphates - 0.6) + rng.normal(0, 0.25, n))
    stars = np.digitize(taste, np.quantile(taste, [0.2, 0.4, 0.6, 0.8])) + 1
    features = np.stack([acidity, sugar, alcohol, sulphates, age], axis=1)
    features = (features - features.mean(0)) / features.std(0)
    return features.astype(np.float32), stars


class WineNet(nn.Module):
    def __init__(self, in_features, num_classes):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(in_features, 64), nn.ReLU(),
            nn.Linear(64, 64), nn.ReLU(),
            nn.Linear(64, num_classes),
        )

    def forward(self, x):
        return self.layers(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()

    torch.manual_seed(42)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    x, stars = load_wines()
    num_classes = len(np.unique(stars))
    y = torch.tensor(stars, dtype=torch.long)
    dataset = TensorDataset(torch.from_numpy(x), y)
    train_set, val_set = random_split(dataset, [1600, 400])
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=args.batch_size)

    model = WineNet(x.shape[1], num_classes).to(device)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for xb, yb in train_loader:
            xb, yb = xb.to(device), yb.to(device)
            loss = loss_fn(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item() * len(xb)
        model.eval()
        hits = 0
        with torch.no_grad():
            for xb, yb in val_loader:
                hits += (model(xb.to(device)).argmax(1).cpu() == yb).sum().item()
        print(f"epoch {epoch:2d}  train loss {running / len(train_set):.4f}  val acc {hits / len(val_set):.3f}")


if __name__ == "__main__":
    main()
