import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {
    "hidden": 128,
    "lr": 3e-4,
    "batch_size": 32,
    "max_epochs": 120,
    "patience": 40,
    "seed": 21,
}


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best_loss = float("inf")
        self.best_epoch = -1
        self.best_state = None
        self.bad = 0

    def update(self, epoch, val_loss, model):
        if val_loss < self.best_loss:
            self.best_loss = val_loss
            self.best_epoch = epoch
            self.best_state = {k: v.clone() for k, v in model.state_dict().items()}
            self.bad = 0
        else:
            self.bad += 1
        return self.bad >= self.patience

    def restore(self, model):
        model.load_state_dict(self.best_state)


def get_data(cfg):
    X, y = make_classification(n_samples=1800, n_features=30, n_informative=10, n_classes=3,
                               n_clusters_per_class=2, flip_y=0.1, class_sep=1.2,
                               random_state=cfg["seed"])
    X_tr, X_rest, y_tr, y_rest = train_test_split(X, y, test_size=0.6, random_state=0, stratify=y)
    X_va, X_te, y_va, y_te = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0,
                                              stratify=y_rest)
    sc = StandardScaler().fit(X_tr)

    def pack(a, b):
        return TensorDataset(torch.tensor(sc.transform(a), dtype=torch.float32), torch.tensor(b))

    return pack(X_tr, y_tr), pack(X_va, y_va), pack(X_te, y_te)


def build(cfg, n_in=30, n_out=3):
    h = cfg["hidden"]
    return nn.Sequential(nn.Linear(n_in, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(),
                         nn.Linear(h, n_out))


def score(model, dataset):
    model.eval()
    x, y = dataset.tensors
    with torch.no_grad():
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y).item()
        acc = (logits.argmax(1) == y).float().mean().item()
    return loss, acc


def main(cfg):
    torch.manual_seed(cfg["seed"])
    train_set, val_set, test_set = get_data(cfg)
    loader = DataLoader(train_set, batch_size=cfg["batch_size"], shuffle=True)
    model = build(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    stopper = EarlyStopping(cfg["patience"])

    for epoch in range(cfg["max_epochs"]):
        model.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(xb), yb).backward()
            optimizer.step()
        val_loss, val_acc = score(model, val_set)
        if epoch % 10 == 0:
            print(f"epoch {epoch:3d} val loss {val_loss:.3f} val acc {val_acc:.3f}")
        if stopper.update(epoch, val_loss, model):
            print("stopping at epoch", epoch)
            break

    stopper.restore(model)
    print(f"best epoch {stopper.best_epoch}, val loss then {stopper.best_loss:.3f}")
    val_loss, val_acc = score(model, val_set)
    test_loss, test_acc = score(model, test_set)
    print(f"restored model: val loss {val_loss:.3f} acc {val_acc:.3f}")
    print(f"restored model: test loss {test_loss:.3f} acc {test_acc:.3f}")


if __name__ == "__main__":
    main(CONFIG)
