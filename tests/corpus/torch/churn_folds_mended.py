import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn

SETTINGS = {"folds": 5, "epochs": 18, "lr": 2e-3, "batch": 64, "width": 96, "seed": 21}


def load_customers(seed):
    X, y = make_classification(n_samples=1500, n_features=25, n_informative=8, n_redundant=4,
                               n_clusters_per_class=2, flip_y=0.18, class_sep=1.2, random_state=seed)
    return X.astype("float32"), y.astype("int64")


def build_net(n_in, width):
    return nn.Sequential(nn.Linear(n_in, width), nn.ReLU(),
                         nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, 2))


def batches(X, y, size):
    for idx in torch.randperm(len(y)).split(size):
        yield X[idx], y[idx]


def train_fold(net, X, y, s):
    opt = torch.optim.Adam(net.parameters(), lr=s["lr"])
    loss_fn = nn.CrossEntropyLoss()
    net.train()
    last = 0.0
    for _ in range(s["epochs"]):
        losses = []
        for xb, yb in batches(X, y, s["batch"]):
            opt.zero_grad()
            loss = loss_fn(net(xb), yb)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        last = float(np.mean(losses))
    return last


def evaluate(net, X, y):
    net.eval()
    with torch.no_grad():
        return (net(X).argmax(1) == y).float().mean().item()


def cross_validate(X, y, s):
    splitter = StratifiedKFold(s["folds"], shuffle=True, random_state=s["seed"])
    scores = []
    for fold, (tr, va) in enumerate(splitter.split(X, y), 1):
        net = build_net(X.shape[1], s["width"])
        scaler = StandardScaler().fit(X[tr])
        X_tr, X_va = (torch.from_numpy(scaler.transform(X[part])) for part in (tr, va))
        y_tr, y_va = torch.from_numpy(y[tr]), torch.from_numpy(y[va])
        loss = train_fold(net, X_tr, y_tr, s)
        scores.append(evaluate(net, X_va, y_va))
        print(f"fold {fold}: train loss {loss:.4f}  valid accuracy {scores[-1]:.4f}")
    return scores


torch.manual_seed(SETTINGS["seed"])
X, y = load_customers(SETTINGS["seed"])
scores = cross_validate(X, y, SETTINGS)
print(f"majority class {max(y.mean(), 1 - y.mean()):.4f}")
print(f"cross-validated accuracy {np.mean(scores):.4f} +- {np.std(scores):.4f}")
