"""Loan default model with accelerate: bf16, gradient accumulation, warm-up, weighted loss."""
import numpy as np
import torch
from accelerate import Accelerator
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DefaultNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, 64), nn.GELU(), nn.Dropout(0.1),
            nn.Linear(64, 64), nn.GELU(), nn.Dropout(0.1),
            nn.Linear(64, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


def load_loans():
    # about 3 % of the loans default
    X, y = make_classification(
        n_samples=12000, n_features=20, n_informative=8, n_redundant=4,
        n_clusters_per_class=1, weights=[0.97], class_sep=1.1, flip_y=0.0, random_state=33,
    )
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, stratify=y, random_state=33)
    mu, sd = X_tr.mean(0), X_tr.std(0)

    def to_set(X, y):
        return TensorDataset(torch.tensor((X - mu) / sd, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))

    return to_set(X_tr, y_tr), to_set(X_te, y_te), float((y_tr == 0).sum() / (y_tr == 1).sum())


def warmup_then_linear(total, warmup):
    def factor(step):
        if step < warmup:
            return step / warmup
        return max(0.0, (total - step) / (total - warmup))
    return factor


def main(epochs=6, micro_batch=16, accumulate=4):
    accelerator = Accelerator(cpu=True, mixed_precision="bf16", gradient_accumulation_steps=accumulate)
    torch.manual_seed(33)
    train_set, test_set, imbalance = load_loans()
    train_dl = DataLoader(train_set, batch_size=micro_batch, shuffle=True, drop_last=True)
    test_dl = DataLoader(test_set, batch_size=500)

    model = DefaultNet(20)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    updates = epochs * (len(train_dl) // accumulate + 1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup_then_linear(updates, updates // 10))
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(imbalance))
    model, optimizer, train_dl, test_dl, scheduler = accelerator.prepare(model, optimizer, train_dl, test_dl, scheduler)
    accelerator.print(f"positives are weighted with {imbalance:.1f}")

    for epoch in range(epochs):
        model.train()
        running = 0.0
        for x, y in train_dl:
            with accelerator.accumulate(model):
                loss = criterion(model(x).float(), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            running += loss.item()

        model.eval()
        scores, truth = [], []
        with torch.no_grad():
            for x, y in test_dl:
                scores.append(model(x).float().cpu())
                truth.append(y.cpu())
        scores, truth = torch.cat(scores).numpy(), torch.cat(truth).numpy()
        accelerator.print(
            f"epoch {epoch + 1} loss {running / len(train_dl):.3f} lr {scheduler.get_last_lr()[0]:.5f} "
            f"AUC {roc_auc_score(truth, scores):.3f} balanced acc {balanced_accuracy_score(truth, scores > 0):.3f} "
            f"flagged {np.mean(scores > 0):.3f}"
        )


if __name__ == "__main__":
    main()
