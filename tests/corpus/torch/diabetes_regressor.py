"""
Disease progression from ten clinical measurements (sklearn diabetes data).

Small residual MLP, feature-noise augmentation, HF Trainer as training loop.
We keep the best epoch on the validation part and report RMSE on the test part.
"""
import numpy as np
import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(17)


class TabularDataset(Dataset):
    def __init__(self, X, y, noise=0.0):
        self.X = torch.tensor(X, dtype=torch.float32)
        self.y = torch.tensor(y, dtype=torch.float32)
        self.noise = noise

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.X[i]
        if self.noise:
            x = x + self.noise * torch.randn_like(x)
        return {"features": x, "labels": self.y[i]}


class ResBlock(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.body = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(),
                                  nn.Dropout(p), nn.Linear(width, width))

    def forward(self, h):
        return h + self.body(h)


class TabularRegressor(nn.Module):
    def __init__(self, n_features, width=48, blocks=2, p=0.2):
        super().__init__()
        self.stem = nn.Linear(n_features, width)
        self.blocks = nn.Sequential(*[ResBlock(width, p) for _ in range(blocks)])
        self.head = nn.Linear(width, 1)

    def forward(self, features, labels=None):
        pred = self.head(self.blocks(self.stem(features))).squeeze(-1)
        out = {"logits": pred}
        if labels is not None:
            out["loss"] = nn.functional.mse_loss(pred, labels)
        return out


def prepare():
    X, y = load_diabetes(return_X_y=True)
    X_tr, X_rest, y_tr, y_rest = train_test_split(X, y, test_size=0.4, random_state=0)
    X_va, X_te, y_va, y_te = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)
    sx = StandardScaler().fit(X_tr)
    mean, std = y_tr.mean(), y_tr.std()
    scale = lambda t: (t - mean) / std
    return (TabularDataset(sx.transform(X_tr), scale(y_tr), noise=0.1),
            TabularDataset(sx.transform(X_va), scale(y_va)),
            TabularDataset(sx.transform(X_te), scale(y_te)), std)


train_ds, valid_ds, test_ds, y_std = prepare()


def compute_metrics(p):
    err = (p.predictions.reshape(-1) - p.label_ids.reshape(-1)) * y_std
    return {"rmse": float(np.sqrt((err ** 2).mean())), "mae": float(np.abs(err).mean())}


args = TrainingArguments(
    output_dir="out/diabetes",
    num_train_epochs=25,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=128,
    learning_rate=2e-4,
    lr_scheduler_type="constant_with_warmup",
    warmup_steps=40,
    weight_decay=0.05,
    eval_strategy="epoch",
    save_strategy="epoch",
    save_total_limit=2,
    load_best_model_at_end=True,
    metric_for_best_model="rmse",
    logging_strategy="epoch",
    report_to="none",
    disable_tqdm=True,
    use_cpu=True,
)

model = TabularRegressor(train_ds.X.shape[1])
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=valid_ds,
                  compute_metrics=compute_metrics)
trainer.train()

test = trainer.evaluate(test_ds, metric_key_prefix="test")
baseline = float(test_ds.y.std(unbiased=False) * y_std)
print("best checkpoint:", trainer.state.best_model_checkpoint)
print(f"test RMSE {test['test_rmse']:.1f}  MAE {test['test_mae']:.1f}  (predicting the mean: {baseline:.1f})")
