"""Parcel weight from its description: a DistilBERT regressor through Trainer with its own optimizer."""
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, get_polynomial_decay_schedule_with_warmup, set_seed)

THINGS = {"book": 0.6, "lamp": 1.8, "kettle": 1.4, "scarf": 0.2, "drill": 2.5, "vase": 1.1,
          "boots": 1.6, "radio": 0.9, "chair": 6.0, "puzzle": 0.5}
SIZES = {"tiny": 0.5, "small": 0.75, "plain": 1.0, "big": 1.4, "huge": 2.0}
COUNT = {"one": 1, "two": 2, "three": 3, "four": 4}
OTHER = "and in a box with paper wrapped red blue green old new".split()
WORDS = ["<pad>", "<s>"] + list(THINGS) + list(SIZES) + list(COUNT) + OTHER
IDX = {w: i for i, w in enumerate(WORDS)}


class Parcels(Dataset):
    """Rows come sorted by length and are cut into ready batches, so that each holds little padding."""

    def __init__(self, n, batch, seed, mean=None, std=None):
        g = np.random.default_rng(seed)
        rows = sorted((self.describe(g) for _ in range(n)), key=lambda r: len(r[0]))
        w = np.array([r[1] for r in rows])
        self.mean = w.mean() if mean is None else mean
        self.std = w.std() if std is None else std
        self.batches = [rows[i:i + batch] for i in range(0, n, batch)]

    @staticmethod
    def describe(g):
        words, weight = [], 0.3
        for k in range(g.integers(1, 4)):
            c, s, t = (str(g.choice(list(d))) for d in (COUNT, SIZES, THINGS))
            words += ["and"] * (k > 0) + [c, s] + [str(g.choice(OTHER[6:]))] * int(g.integers(0, 2)) + [t]
            weight += COUNT[c] * SIZES[s] * THINGS[t]
        return words + "in a box".split(), float(np.log(weight) + g.normal(0, 0.03))

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, i):
        rows = self.batches[i]
        width = 1 + max(len(w) for w, _ in rows)
        ids = torch.zeros(len(rows), width, dtype=torch.long)
        for r, (words, _) in enumerate(rows):
            ids[r, :len(words) + 1] = torch.tensor([1] + [IDX[w] for w in words])
        y = torch.tensor([(v - self.mean) / self.std for _, v in rows], dtype=torch.float32)
        return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": y}


def unpack(items):
    assert len(items) == 1          # the dataset's items are whole batches already
    return items[0]


def metrics(p):
    guess, y = p.predictions.squeeze(-1), p.label_ids
    return {"r2": float(1 - ((guess - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())}


def main():
    set_seed(44)
    train = Parcels(4000, 32, 1)
    val = Parcels(500, 50, 2, train.mean, train.std)
    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(WORDS), dim=64, hidden_dim=128, n_layers=2, n_heads=4, max_position_embeddings=32,
        num_labels=1, problem_type="regression", dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0))

    epochs, accum = 10, 2
    steps = epochs * -(-len(train) // accum)
    body, norms, head = [], [], []
    for name, p in model.named_parameters():
        (head if name.startswith(("classifier", "pre_classifier"))
         else norms if p.ndim == 1 else body).append(p)
    optimizer = torch.optim.AdamW([
        {"params": body, "lr": 2e-3, "weight_decay": 0.01},
        {"params": norms, "lr": 2e-3, "weight_decay": 0.0},
        {"params": head, "lr": 1e-3, "weight_decay": 0.0}], betas=(0.9, 0.98))
    schedule = get_polynomial_decay_schedule_with_warmup(optimizer, steps // 10, steps, lr_end=1e-5, power=1.0)

    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=epochs, per_device_train_batch_size=1,
        per_device_eval_batch_size=1, gradient_accumulation_steps=accum, eval_strategy="epoch",
        logging_strategy="epoch", save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=val, data_collator=unpack,
                      compute_metrics=metrics, optimizers=(optimizer, schedule))
    trainer.train()
    print("final", trainer.evaluate())


if __name__ == "__main__":
    main()
