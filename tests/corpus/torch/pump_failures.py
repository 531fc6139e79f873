"""Rare pump failures from sensor tables, Trainer with a weighted loss."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed


def sensors(n, seed):
    g = np.random.default_rng(seed)
    y = (g.random(n) < 0.03).astype(np.int64)
    x = g.normal(size=(n, 10)).astype(np.float32)
    sign = g.choice([-1, 1], n)
    x[:, 0] += y * sign * 2.5
    x[:, 1] += y * sign * 2.5
    x[:, 2] += y * 1.2
    return x, y


class PumpTable(Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.from_numpy(x), torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"features": self.x[i], "labels": self.y[i]}


class PumpNet(nn.Module):
    def __init__(self, d=10):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 32), nn.ReLU(),
                                 nn.Linear(32, 2))

    def forward(self, features, labels=None):
        return {"logits": self.net(features)}


class WeightedTrainer(Trainer):
    def __init__(self, *a, class_weights=None, **kw):
        super().__init__(*a, **kw)
        self.class_weights = class_weights

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        out = model(features=inputs["features"])
        loss = nn.functional.cross_entropy(out["logits"], labels, weight=self.class_weights)
        return (loss, out) if return_outputs else loss


def metrics(p):
    logits, y = p.predictions, p.label_ids
    score = logits[:, 1] - logits[:, 0]
    order = np.argsort(-score)
    hits = np.cumsum(y[order])
    prec = hits / np.arange(1, len(y) + 1)
    pred = score > 0
    rec1, rec0 = pred[y == 1].mean(), (~pred)[y == 0].mean()
    return {"average_precision": float((prec * y[order]).sum() / y.sum()),
            "balanced_accuracy": float((rec1 + rec0) / 2), "base_rate": float(y.mean())}


if __name__ == "__main__":
    set_seed(2)
    x, y = sensors(40000, 0)
    xv, yv = sensors(4000, 1)
    freq = np.bincount(y) / len(y)
    weights = torch.tensor(1.0 / freq / 2, dtype=torch.float32)
    print("class weights", weights.tolist())
    args = TrainingArguments(output_dir="out", num_train_epochs=6, learning_rate=2e-3,
                             per_device_train_batch_size=128, per_device_eval_batch_size=1000, eval_strategy="epoch",
                             save_strategy="no", logging_steps=200, report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = WeightedTrainer(model=PumpNet(), args=args, train_dataset=PumpTable(x, y),
                              eval_dataset=PumpTable(xv, yv), compute_metrics=metrics, class_weights=weights)
    trainer.train()
    print(trainer.evaluate())
