import numpy as np
import torch
from torch import nn
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {"width": 128, "depth": 4, "lr": 1e-3, "epochs": 12, "batch": 64, "folds": 4, "classes": 7}


class TabularNet(nn.Module):
    def __init__(self, features, width, depth, classes):
        super().__init__()
        layers = [nn.Linear(features, width), nn.ReLU()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.ReLU()]
        layers.append(nn.Linear(width, classes))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


def init_weights(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight)
        nn.init.zeros_(module.bias)


def make_table():
    x, y = make_classification(n_samples=4000, n_features=24, n_informative=14, n_redundant=4,
                               n_classes=CONFIG["classes"], n_clusters_per_class=1, class_sep=1.4,
                               flip_y=0.02, random_state=9)
    return x.astype("float32"), y.astype("int64")


def run_epoch(model, loader, loss_fn, optimizer=None):
    model.train(optimizer is not None)
    total, right, count = 0.0, 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for xb, yb in loader:
            logits = model(xb)
            loss = loss_fn(logits, yb)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(yb)
            right += (logits.argmax(1) == yb).sum().item()
            count += len(yb)
    return total / count, right / count


def train_fold(x, y, train_idx, test_idx, fold):
    torch.manual_seed(100 + fold)
    scaler = StandardScaler().fit(x[train_idx])
    sets = [TensorDataset(torch.from_numpy(scaler.transform(x[i]).astype("float32")), torch.from_numpy(y[i]))
            for i in (train_idx, test_idx)]
    train_loader = DataLoader(sets[0], batch_size=CONFIG["batch"], shuffle=True)
    test_loader = DataLoader(sets[1], batch_size=256)
    model = TabularNet(x.shape[1], CONFIG["width"], CONFIG["depth"], CONFIG["classes"])
    model.apply(init_weights)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=CONFIG["lr"])
    for epoch in range(CONFIG["epochs"]):
        loss, acc = run_epoch(model, train_loader, loss_fn, optimizer)
        if epoch in (0, 5, CONFIG["epochs"] - 1):
            print(f"fold {fold} epoch {epoch + 1:2d} train loss {loss:.3f} acc {acc:.3f}")
    return run_epoch(model, test_loader, loss_fn)


def main():
    x, y = make_table()
    splitter = StratifiedKFold(n_splits=CONFIG["folds"], shuffle=True, random_state=0)
    results = [train_fold(x, y, tr, te, k) for k, (tr, te) in enumerate(splitter.split(x, y))]
    losses, accs = zip(*results)
    print(f"cv loss {np.mean(losses):.3f}  cv accuracy {np.mean(accs):.3f} +- {np.std(accs):.3f}")


if __name__ == "__main__":
    main()
