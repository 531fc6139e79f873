"""Strength of concrete mixes: own MLP regressor driven by the Hugging Face Trainer with early stopping."""
import numpy as np
import torch
from torch import nn
from datasets import Dataset
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, set_seed

set_seed(8)


def mixes(n, seed):
    rng = np.random.default_rng(seed)
    cement = rng.uniform(150, 500, n)
    water = rng.uniform(130, 230, n)
    ash = rng.uniform(0, 180, n)
    plast = rng.uniform(0, 25, n)
    age = rng.choice([3, 7, 14, 28, 56, 90], n)
    strength = (28 * (cement / 300) / (water / 180) ** 1.4 * np.log1p(age) / np.log1p(28)
                + 0.04 * ash * (age > 20) + 0.35 * plast + rng.normal(0, 1.5, n))
    x = np.stack([cement, water, ash, plast, np.log1p(age)], 1)
    return x.astype(np.float32), strength.astype(np.float32)


class Standardizer:
    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0)
        return self

    def __call__(self, x):
        return (x - self.mean) / self.std

    def inverse(self, x):
        return x * self.std + self.mean


class MixRegressor(nn.Module):
    def __init__(self, n_in, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, width), nn.SiLU(),
                                  nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))
        self.loss_fn = nn.SmoothL1Loss()

    def forward(self, features, strength=None):
        pred = self.body(features).squeeze(-1)
        if strength is None:
            return {"pred": pred}
        return {"loss": self.loss_fn(pred, strength), "pred": pred}


def to_dataset(x, y):
    return Dataset.from_dict({"features": x.tolist(), "strength": y.tolist()})


x_all, y_all = mixes(2000, seed=8)
x_train, x_val, x_test = np.split(x_all, [1400, 1700])
y_train, y_val, y_test = np.split(y_all, [1400, 1700])
sx, sy = Standardizer().fit(x_train), Standardizer().fit(y_train)


def compute_metrics(p):
    pred, true = sy.inverse(p.predictions), sy.inverse(p.label_ids)
    return {"mae": float(np.abs(pred - true).mean()),
            "r2": float(1 - ((pred - true) ** 2).sum() / ((true - true.mean()) ** 2).sum())}


args = TrainingArguments(
    output_dir="out",
    num_train_epochs=25,
    per_device_train_batch_size=64,
    per_device_eval_batch_size=256,
    learning_rate=4e-3,
    weight_decay=1e-4,
    eval_strategy="epoch",
    logging_strategy="epoch",
    save_strategy="no",
    metric_for_best_model="eval_mae",
    greater_is_better=False,
    label_names=["strength"],
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(
    model=MixRegressor(x_all.shape[1]),
    args=args,
    train_dataset=to_dataset(sx(x_train), sy(y_train)),
    eval_dataset=to_dataset(sx(x_val), sy(y_val)),
    compute_metrics=compute_metrics,
    callbacks=[EarlyStoppingCallback(early_stopping_patience=5)],
)
trainer.train()
report = trainer.evaluate(to_dataset(sx(x_test), sy(y_test)))
print("epochs run", trainer.state.epoch)
print("test loss %s mae %s r2 %s" % tuple(
    report.get("eval_" + k, float("nan")) for k in ("loss", "mae", "r2")))
print("mae of the mean guess %.3f" % np.abs(y_test - y_train.mean()).mean())
