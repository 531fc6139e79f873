"""Cross-validated MLP for rare fraudulent claims."""
import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn

SETTINGS = {"folds": 5, "epochs": 40, "batch": 64, "lr": 3e-3, "width": 64, "seed": 17}


def load_claims():
    return make_classification(
        n_samples=900, n_features=20, n_informative=6, n_redundant=4, n_clusters_per_class=3,
        weights=[0.88], class_sep=1.0, flip_y=0.06, random_state=SETTINGS["seed"])


def balance(x, y, rng):
    rare = np.flatnonzero(y == 1)
    extra = rng.choice(rare, size=(y == 0).sum() - len(rare), replace=True)
    keep = rng.permutation(np.concatenate([np.arange(len(y)), extra]))
    return x[keep], y[keep]


def batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(order), size):
        pick = order[start:start + size]
        yield (torch.tensor(x[pick], dtype=torch.float32),
               torch.tensor(y[pick], dtype=torch.float32))


def make_net(n_in):
    w = SETTINGS["width"]
    return nn.Sequential(nn.Linear(n_in, w), nn.ReLU(), nn.Dropout(0.2),
                         nn.Linear(w, w), nn.ReLU(), nn.Linear(w, 1))


def train_net(x, y, rng):
    net = make_net(x.shape[1])
    opt = torch.optim.AdamW(net.parameters(), lr=SETTINGS["lr"])
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=SETTINGS["epochs"])
    bce = nn.BCEWithLogitsLoss()
    net.train()
    for _ in range(SETTINGS["epochs"]):
        total = 0.0
        for xb, yb in batches(x, y, SETTINGS["batch"], rng):
            opt.zero_grad()
            loss = bce(net(xb).squeeze(1), yb)
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        sched.step()
    return net.eval(), total / len(x)


def predict(net, x):
    with torch.no_grad():
        return (net(torch.tensor(x, dtype=torch.float32)).squeeze(1) > 0).numpy().astype(int)


def cross_validate(x, y):
    rng = np.random.default_rng(SETTINGS["seed"])
    scores = []
    folds = StratifiedKFold(SETTINGS["folds"], shuffle=True, random_state=SETTINGS["seed"])
    for k, (tr, va) in enumerate(folds.split(x, y)):
        x_tr, y_tr = balance(x[tr], y[tr], rng)
        scaler = StandardScaler().fit(x_tr)
        net, last = train_net(scaler.transform(x_tr), y_tr, rng)
        guess = predict(net, scaler.transform(x[va]))
        scores.append((balanced_accuracy_score(y[va], guess), f1_score(y[va], guess)))
        print("fold %d train loss %.4f balanced acc %.4f f1 %.4f" % ((k, last) + scores[-1]))
    return np.mean(scores, axis=0)


if __name__ == "__main__":
    torch.manual_seed(SETTINGS["seed"])
    claims, fraud = load_claims()
    bal_acc, f1 = cross_validate(claims, fraud)
    print("cv balanced accuracy %.4f f1 %.4f (n=%d, fraud share %.3f)" % (
        bal_acc, f1, len(fraud), fraud.mean()))
