import tempfile

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(8)
rng = np.random.default_rng(8)
LOOKBACK = 12
COLUMNS = ["units", "price", "promo", "footfall"]


def sales_table(n_stores=900):
    rows = []
    for store in range(n_stores):
        weeks = LOOKBACK if rng.random() > 0.01 else int(rng.integers(4, LOOKBACK))
        level, trend = rng.normal(0, 1), rng.normal(0, 0.08)
        for w in range(weeks + 1):
            promo = float(rng.random() < 0.3)
            price = rng.normal()
            footfall = level + rng.normal(0, 0.3)
            units = level + trend * w + 0.9 * promo - 0.3 * price + rng.normal(0, 0.25)
            rows.append((store, w, units, price, promo, footfall))
    return pd.DataFrame(rows, columns=["store", "week"] + COLUMNS)


class StoreHistory(Dataset):
    def __init__(self, table):
        self.items = []
        for _, part in table.groupby("store"):
            values = part[COLUMNS].to_numpy("float32")
            self.items.append({"history": values[:-1], "plan": values[-1, 1:3], "labels": values[-1, 0]})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items):
    lengths = torch.tensor([len(r["history"]) for r in items])
    history = nn.utils.rnn.pad_sequence([torch.from_numpy(r["history"]) for r in items], batch_first=True)
    return {
        "history": history,
        "mask": torch.arange(history.shape[1])[None] < lengths[:, None],
        "plan": torch.from_numpy(np.stack([r["plan"] for r in items])),
        "labels": torch.tensor(np.array([r["labels"] for r in items])),
    }


class DecayPool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rate = nn.Parameter(torch.linspace(-3.0, 1.0, width))

    def forward(self, h, mask):
        age = mask.sum(1, keepdim=True) - 1 - torch.arange(h.shape[1], device=h.device)[None]
        weight = torch.exp(-torch.nn.functional.softplus(self.rate) * age.clamp(min=0)[..., None])
        weight = weight * mask[..., None]
        return (h * weight).sum(1) / weight.sum(1)


class Forecaster(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(len(COLUMNS), width), nn.ReLU(), nn.Linear(width, width))
        self.pool = DecayPool(width)
        self.head = nn.Sequential(nn.Linear(width + 2, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, history, mask, plan, labels=None):
        pooled = self.pool(self.embed(history), mask)
        pred = self.head(torch.cat([pooled, plan], dim=1)).squeeze(1)
        return {"loss": nn.functional.mse_loss(pred, labels), "pred": pred}


def report(p):
    err = p.predictions - p.label_ids
    return {"rmse": float(np.sqrt((err ** 2).mean())), "r2": float(1 - (err ** 2).mean() / p.label_ids.var())}


table = sales_table()
held_out = table["store"] % 5 == 0
args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=25, per_device_train_batch_size=32,
                         learning_rate=4e-3, lr_scheduler_type="cosine", logging_steps=100, save_strategy="no",
                         report_to="none", use_cpu=True, disable_tqdm=True, remove_unused_columns=False, seed=8)
trainer = Trainer(model=Forecaster(), args=args, train_dataset=StoreHistory(table[~held_out]),
                  eval_dataset=StoreHistory(table[held_out]), data_collator=collate, compute_metrics=report)
trainer.train()
scores = trainer.evaluate()
print(f"held-out stores: rmse {scores['eval_rmse']:.3f}  r2 {scores['eval_r2']:.3f}")
