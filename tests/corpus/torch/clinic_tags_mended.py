"""Tag drug, dose and body-part words in short clinic notes."""
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import (DistilBertConfig, DistilBertForTokenClassification, Trainer, TrainingArguments,
                          set_seed)

TAGS = ["O", "DRUG", "DOSE", "BODY"]
DRUGS = [f"drug{i}" for i in range(25)]
UNITS = ["mg", "ml", "drops", "puffs"]
NUMS = [str(i) for i in range(1, 30)]
BODY = "knee hip back ear wrist neck ankle shoulder".split()
PLAIN = "patient reports pain in left right seen today with mild take daily for days after visit walked km".split()
VOCAB = {w: i for i, w in enumerate(["<pad>"] + sorted(set(DRUGS + UNITS + NUMS + BODY + PLAIN)))}


def note(rng):
    toks, tags = [], []

    def add(w, t):
        toks.append(w)
        tags.append(TAGS.index(t))

    n_parts = 14 if rng.random() < 0.06 else rng.integers(2, 4)
    for _ in range(n_parts):
        r = rng.random()
        if r < 0.35:
            add(rng.choice(DRUGS), "DRUG")
            add(rng.choice(NUMS), "DOSE")
            add(rng.choice(UNITS), "DOSE")
        elif r < 0.6:
            add("pain", "O")
            add("in", "O")
            add(rng.choice(["left", "right"]), "BODY")
            add(rng.choice(BODY), "BODY")
        elif r < 0.8:
            add("walked", "O")
            add(rng.choice(NUMS), "O")
            add("km", "O")
        else:
            add(rng.choice(PLAIN), "O")
    if rng.random() < 0.5:
        tags[rng.integers(len(tags))] = int(rng.integers(len(TAGS)))
    return toks, tags


@dataclass
class TagCollator:
    pad_id: int = 0
    label_pad: int = -100

    def __call__(self, batch: list[dict[str, Any]]):
        width = max(len(b["input_ids"]) for b in batch)
        out = {"input_ids": [], "attention_mask": [], "labels": []}
        for b in batch:
            n = len(b["input_ids"])
            gap = width - n
            out["input_ids"].append(b["input_ids"] + [self.pad_id] * gap)
            out["attention_mask"].append([1] * n + [0] * gap)
            out["labels"].append(b["labels"] + [self.label_pad] * gap)
        return {k: torch.tensor(v) for k, v in out.items()}


def make(n, seed):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        toks, tags = note(rng)
        rows.append({"input_ids": [VOCAB[t] for t in toks], "labels": tags})
    return rows


def report(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    keep = gold != -100
    return {"token_accuracy": float((pred[keep] == gold[keep]).mean()), "tokens": int(keep.sum())}


def main():
    set_seed(21)
    cfg = DistilBertConfig(vocab_size=len(VOCAB), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                           max_position_embeddings=64, num_labels=len(TAGS))
    model = DistilBertForTokenClassification(cfg)
    args = TrainingArguments(output_dir="out", num_train_epochs=4, learning_rate=1e-3,
                             per_device_train_batch_size=32, per_device_eval_batch_size=64,
                             eval_strategy="epoch", save_strategy="no", logging_steps=50,
                             report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model, args, data_collator=TagCollator(), train_dataset=make(2000, 0),
                      eval_dataset=make(400, 1), compute_metrics=report)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
