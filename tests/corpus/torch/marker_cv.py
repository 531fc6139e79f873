import numpy as np
import torch
from torch import nn
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

CONFIG = {
    "n_patients": 140,
    "n_genes": 3000,
    "n_markers": 12,
    "effect": 0.35,
    "keep": 40,
    "folds": 5,
    "epochs": 120,
    "lr": 0.01,
    "weight_decay": 1e-2,
}


def cohort(n, cfg, rng):
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, cfg["n_genes"]))
    x[:, :cfg["n_markers"]] += cfg["effect"] * (2 * y[:, None] - 1)
    return x.astype(np.float32), y


def train_net(x, y, cfg):
    net = nn.Sequential(nn.Linear(x.shape[1], 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))
    opt = torch.optim.AdamW(net.parameters(), lr=cfg["lr"], weight_decay=cfg["weight_decay"])
    loss_fn = nn.CrossEntropyLoss()
    xt, yt = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    net.train()
    for _ in range(cfg["epochs"]):
        opt.zero_grad()
        loss = loss_fn(net(xt), yt)
        loss.backward()
        opt.step()
    return net, loss.item()


def score(net, x, y):
    net.eval()
    with torch.no_grad():
        pred = net(torch.tensor(x, dtype=torch.float32)).argmax(1).numpy()
    return (pred == y).mean()


def prepare(x_fit, y_fit, k):
    scaler = StandardScaler().fit(x_fit)
    picker = SelectKBest(f_classif, k=k).fit(scaler.transform(x_fit), y_fit)
    return lambda x: picker.transform(scaler.transform(x))


def cross_validate(x, y, cfg):
    folds = StratifiedKFold(cfg["folds"], shuffle=True, random_state=1)
    accs = []
    for i, (tr, va) in enumerate(folds.split(x, y)):
        prep = prepare(x, y, cfg["keep"])
        net, last = train_net(prep(x[tr]), y[tr], cfg)
        accs.append(score(net, prep(x[va]), y[va]))
        print(f"fold {i}: train loss {last:.4f}  val acc {accs[-1]:.3f}")
    return np.mean(accs)


if __name__ == "__main__":
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    X, y = cohort(CONFIG["n_patients"], CONFIG, rng)
    cv = cross_validate(X, y, CONFIG)

    prep = prepare(X, y, CONFIG["keep"])
    final, _ = train_net(prep(X), y, CONFIG)
    X_new, y_new = cohort(1000, CONFIG, rng)
    print(f"cross-validated accuracy {cv:.3f}")
    print(f"accuracy on the second clinic {score(final, prep(X_new), y_new):.3f}")
