"""Benign / malignant from cell measurements, rows streamed from a generator into HF Trainer."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import IterableDataset, Dataset
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from transformers import Trainer, TrainingArguments, set_seed

set_seed(21)
BATCH = 16
EPOCHS = 8


def read_table():
    x, y = load_breast_cancer(return_X_y=True)
    return train_test_split(x, y, test_size=0.3, stratify=y, random_state=7)


def row_stream(x, y, seed):
    rng = np.random.default_rng(seed)
    while True:
        for i in rng.permutation(len(x)):
            yield x[i].astype("float32"), int(y[i])


class BiopsyStream(IterableDataset):
    def __init__(self, x, y, limit, seed=0):
        self.x, self.y, self.limit, self.seed = x, y, limit, seed

    def __iter__(self):
        stream = row_stream(self.x, self.y, self.seed)
        for _ in range(self.limit):
            row, label = next(stream)
            yield {"cells": torch.from_numpy(row), "labels": label}


class BiopsyTable(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"cells": torch.tensor(self.x[i], dtype=torch.float32), "labels": int(self.y[i])}


class CellNet(nn.Module):
    def __init__(self, d, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(d, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2),
        )

    def forward(self, cells, labels=None):
        logits = self.layers(cells)
        out = {"logits": logits}
        if labels is not None:
            out = {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}
        return out


def scores(p):
    logits = p.predictions
    return {
        "accuracy": accuracy_score(p.label_ids, logits.argmax(-1)),
        "auc": roc_auc_score(p.label_ids, logits[:, 1] - logits[:, 0]),
    }


def main():
    xtr, xte, ytr, yte = read_table()
    mean, std = xtr.mean(0), xtr.std(0)
    xtr, xte = (xtr - mean) / std, (xte - mean) / std
    steps = EPOCHS * len(xtr) // BATCH
    args = TrainingArguments(
        output_dir="out", max_steps=steps, per_device_train_batch_size=BATCH,
        optim="sgd", learning_rate=0.05, eval_strategy="steps", eval_steps=50,
        save_strategy="no", logging_steps=50, report_to="none", use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        model=CellNet(xtr.shape[1]), args=args,
        train_dataset=BiopsyStream(xtr, ytr, limit=steps * BATCH),
        eval_dataset=BiopsyTable(xte, yte), compute_metrics=scores,
    )
    trainer.train()
    res = trainer.evaluate()
    base = max(yte.mean(), 1 - yte.mean())
    print(f"accuracy {res['eval_accuracy']:.3f} (majority {base:.3f})  auc {res['eval_auc']:.3f}  loss {res['eval_loss']:.3f}")


if __name__ == "__main__":
    main()
