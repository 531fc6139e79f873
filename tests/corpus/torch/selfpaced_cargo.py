"""Self-paced reweighting of noisy manifests: low-weight rows are those two clerks disagreed on."""
import argparse
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments, set_seed

GOODS = ["timber", "grain", "ore", "textile", "fruit"]
PER_CLASS = 14
SHARED = 40


def synth(n, rng, flip=0.0):
    first = 4 + SHARED
    rows = []
    for _ in range(n):
        y = rng.integers(len(GOODS))
        own = first + y * PER_CLASS + rng.integers(0, PER_CLASS, size=3)
        other = 4 + rng.integers(0, SHARED, size=7)
        body = rng.permutation(np.concatenate([own, other]))
        label, weight = y, 1.0
        if rng.random() < flip:
            label, weight = rng.integers(len(GOODS)), 0.15
        rows.append({"input_ids": [1, *map(int, body), 2], "attention_mask": [1] * 12,
                     "label": int(label), "weight": float(weight)})
    return Dataset.from_list(rows)


class Pace(TrainerCallback):
    """anneals how strongly the agreement weights count"""

    def __init__(self, start=1.0, end=2.0):
        self.start, self.end, self.gamma = start, end, start

    def on_epoch_begin(self, args, state, control, **kw):
        t = state.epoch / max(1, args.num_train_epochs - 1)
        self.gamma = self.start + t * (self.end - self.start)


class SelfPacedTrainer(Trainer):
    def __init__(self, *a, pace, **kw):
        super().__init__(*a, **kw)
        self.pace = pace
        self.add_callback(pace)

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        weight = inputs["weight"]
        out = model(**inputs)
        per_row = F.cross_entropy(out.logits, labels, reduction="none", label_smoothing=0.05)
        if model.training:
            w = weight.pow(self.pace.gamma)
            loss = (w * per_row).sum() / w.sum()
        else:
            loss = per_row.mean()
        return (loss, out) if return_outputs else loss


def accuracy(p):
    return {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())}


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--noise", type=float, default=0.35)
    a = ap.parse_args()
    set_seed(42)
    rng = np.random.default_rng(42)
    train, test = synth(2000, rng, a.noise), synth(400, rng)
    cfg = BertConfig(vocab_size=4 + SHARED + PER_CLASS * len(GOODS), hidden_size=64, num_hidden_layers=2,
                     num_attention_heads=4, intermediate_size=128, max_position_embeddings=16,
                     num_labels=len(GOODS))
    with tempfile.TemporaryDirectory() as tmp:
        targs = TrainingArguments(tmp, num_train_epochs=a.epochs, learning_rate=a.lr, report_to="none",
                                  per_device_train_batch_size=32, per_device_eval_batch_size=100,
                                  remove_unused_columns=False, label_names=["labels"], logging_steps=40,
                                  eval_strategy="epoch", save_strategy="no", disable_tqdm=True)
        trainer = SelfPacedTrainer(model=BertForSequenceClassification(cfg), args=targs, train_dataset=train,
                                   eval_dataset=test, compute_metrics=accuracy, pace=Pace())
        trainer.train()
        print(trainer.evaluate())
