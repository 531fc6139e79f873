import argparse
import math
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class CosineFeatures(nn.Module):
    def __init__(self, n_in, n_features, width):
        super().__init__()
        self.proj = nn.Linear(n_in, n_features)
        nn.init.normal_(self.proj.weight, std=1.0 / width)
        nn.init.uniform_(self.proj.bias, 0, 2 * math.pi)
        self.scale = math.sqrt(2.0 / n_features)

    def forward(self, x):
        return self.scale * torch.cos(self.proj(x))


def build(n_in, args):
    features = CosineFeatures(n_in, args.features, args.width)
    for p in features.parameters():
        p.requires_grad_(False)
    head = nn.Linear(args.features, 1)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    return nn.Sequential(features, head)


def fit(model, loader, args):
    opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=args.lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.lr, total_steps=args.epochs * len(loader))
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = loss_fn(model(xb).squeeze(-1), yb)
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        if (epoch + 1) % 10 == 0:
            print(f"epoch {epoch + 1} loss {total / len(loader):.4f} lr {sched.get_last_lr()[0]:.4f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--features", type=int, default=1024)
    ap.add_argument("--width", type=float, default=8.0)
    ap.add_argument("--lr", type=float, default=2.0)
    ap.add_argument("--epochs", type=int, default=40)
    args = ap.parse_args()
    torch.manual_seed(0)

    X, y = load_breast_cancer(return_X_y=True)
    Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    sc = StandardScaler().fit(Xtr)
    xtr = torch.tensor(sc.transform(Xtr), dtype=torch.float32)
    xte = torch.tensor(sc.transform(Xte), dtype=torch.float32)
    loader = DataLoader(TensorDataset(xtr, torch.tensor(ytr, dtype=torch.float32)), batch_size=32, shuffle=True)

    model = build(X.shape[1], args)
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{trainable} of {sum(p.numel() for p in model.parameters())} parameters trained")
    fit(model, loader, args)
    with torch.no_grad():
        logits = model(xte).squeeze(-1).numpy()
    print(f"test accuracy {((logits > 0) == yte).mean():.3f}  auc {roc_auc_score(yte, logits):.4f}")


if __name__ == "__main__":
    main()
