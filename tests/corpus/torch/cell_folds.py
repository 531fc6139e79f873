"""5-fold evaluation of a small MLP on the breast cancer table."""
import numpy as np
import pandas as pd
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn


def load_table():
    raw = load_breast_cancer(as_frame=True)
    frame = raw.data.copy()
    frame.columns = [c.replace(" ", "_") for c in frame.columns]
    frame["ratio_area"] = frame["worst_area"] / frame["mean_area"]
    frame["ratio_smooth"] = frame["worst_smoothness"] / frame["mean_smoothness"]
    return frame, raw.target


def prepare(seed=5):
    frame, diagnosis = load_table()
    table = frame.sample(frac=1.0, random_state=seed)
    table = table.clip(lower=table.quantile(0.01), upper=table.quantile(0.99), axis=1)
    features = table.to_numpy(dtype=np.float32)
    target = diagnosis.to_numpy(dtype=np.float32)
    return features, target


class TabNet(nn.Module):
    def __init__(self, n_in, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, hidden), nn.LayerNorm(hidden), nn.GELU(),
            nn.Dropout(0.2), nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


class FoldTrainer:
    def __init__(self, epochs=60, lr=3e-3, patience=8, batch=64):
        self.epochs, self.lr, self.patience, self.batch = epochs, lr, patience, batch
        self.criterion = nn.BCEWithLogitsLoss()

    def fit(self, x, y, xv, yv):
        model = TabNet(x.shape[1])
        opt = torch.optim.AdamW(model.parameters(), lr=self.lr, weight_decay=1e-2)
        best, best_state, waited = float("inf"), None, 0
        for epoch in range(self.epochs):
            model.train()
            for idx in torch.randperm(len(x)).split(self.batch):
                opt.zero_grad()
                loss = self.criterion(model(x[idx]), y[idx])
                loss.backward()
                opt.step()
            valid = self.score(model, xv, yv)
            if valid < best - 1e-4:
                best, waited = valid, 0
                best_state = {k: v.clone() for k, v in model.state_dict().items()}
            else:
                waited += 1
                if waited >= self.patience:
                    break
        model.load_state_dict(best_state)
        return model, best, epoch + 1

    def score(self, model, x, y):
        model.eval()
        with torch.no_grad():
            return self.criterion(model(x), y).item()


def main():
    torch.manual_seed(0)
    features, target = prepare()
    folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
    aucs, accs = [], []
    for k, (tr, te) in enumerate(folds.split(features, target)):
        cut = int(0.85 * len(tr))
        perm = np.random.default_rng(k).permutation(tr)
        fit_idx, val_idx = perm[:cut], perm[cut:]
        scaler = StandardScaler().fit(features[fit_idx])
        as_x = lambda i: torch.tensor(scaler.transform(features[i]), dtype=torch.float32)
        as_y = lambda i: torch.tensor(target[i])
        trainer = FoldTrainer()
        model, best, used = trainer.fit(as_x(fit_idx), as_y(fit_idx), as_x(val_idx), as_y(val_idx))
        with torch.no_grad():
            logits = model(as_x(te))
        auc = roc_auc_score(target[te], logits.numpy())
        acc = ((logits > 0).float() == as_y(te)).float().mean().item()
        aucs.append(auc)
        accs.append(acc)
        print(f"fold {k}: epochs {used:2d}  valid loss {best:.3f}  auc {auc:.3f}  acc {acc:.3f}")
    print(f"mean auc {np.mean(aucs):.3f}  mean accuracy {np.mean(accs):.3f}  majority {max(target.mean(), 1 - target.mean()):.3f}")


if __name__ == "__main__":
    main()
