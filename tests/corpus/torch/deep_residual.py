"""Forty residual layers without any normalisation (SkipInit): each branch starts switched off."""
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import QuantileTransformer
from torch import Tensor, nn


class Branch(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.gain = nn.Parameter(torch.zeros(()))

    def forward(self, h: Tensor) -> Tensor:
        return h + self.gain * self.inner(h)


class DeepTabular(nn.Module):
    def __init__(self, features: int, width: int = 32, blocks: int = 20):
        super().__init__()
        self.stem = nn.Linear(features, width)
        self.blocks = nn.Sequential(*[Branch(width) for _ in range(blocks)])
        self.head = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.blocks(self.stem(x)))).squeeze(-1)


def train_fold(x: Tensor, y: Tensor, epochs: int, micro: int = 16, accumulate: int = 4) -> nn.Module:
    model = DeepTabular(x.shape[1])
    gains = [p for n, p in model.named_parameters() if n.endswith("gain")]
    others = [p for n, p in model.named_parameters() if not n.endswith("gain")]
    opt = torch.optim.AdamW([{"params": others, "weight_decay": 0.05}, {"params": gains, "weight_decay": 0.0, "lr": 5e-3}], lr=1e-3)
    loss_fn = nn.BCEWithLogitsLoss(pos_weight=(y == 0).sum() / (y == 1).sum())
    for epoch in range(epochs):
        model.train()
        running = 0.0
        chunks = torch.randperm(len(x)).split(micro)
        opt.zero_grad()
        for i, rows in enumerate(chunks, start=1):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x[rows])
            loss = loss_fn(logits.float(), y[rows])
            (loss / accumulate).backward()
            running += loss.item()
            if i % accumulate == 0 or i == len(chunks):
                opt.step()
                opt.zero_grad()
        if epoch % 5 == 4:
            print(f"    epoch {epoch + 1:2d}  loss {running / len(chunks):.4f}")
    print(f"    mean |gain| after training: {torch.stack(gains).abs().mean().item():.4f}")
    return model


def main() -> None:
    torch.manual_seed(4)
    X, y = load_breast_cancer(return_X_y=True)
    y = 1 - y  # malignant is the positive class
    results = []
    for k, (tr, te) in enumerate(StratifiedKFold(3, shuffle=True, random_state=4).split(X, y)):
        print(f"fold {k + 1}")
        scale = QuantileTransformer(n_quantiles=100, output_distribution="normal").fit(X[tr])
        as_tensor = lambda rows: torch.tensor(scale.transform(X[rows]), dtype=torch.float32).clamp(-4, 4)
        model = train_fold(as_tensor(tr), torch.tensor(y[tr], dtype=torch.float32), epochs=15)
        model.eval()
        with torch.no_grad():
            prob = torch.sigmoid(model(as_tensor(te))).numpy()
        results.append((accuracy_score(y[te], prob > 0.5), f1_score(y[te], prob > 0.5), roc_auc_score(y[te], prob)))
        print("    accuracy %.3f  F1 %.3f  AUROC %.3f" % results[-1])
    mean = torch.tensor(results, dtype=torch.float64).mean(0).tolist()
    print("mean over folds: accuracy %.3f  F1 %.3f  AUROC %.3f" % tuple(mean))


if __name__ == "__main__":
    main()
