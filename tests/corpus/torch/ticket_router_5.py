"""Urgent / normal routing of support tickets exported as a text dump."""
import os
os.environ["USE_TF"] = "0"
import io
import random
from collections import Counter

import numpy as np
import torch
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainerCallback, TrainingArguments, set_seed)

URGENT = "outage crash down leak fire breach failing blocked corrupt".split()
CALM = "question invoice logo colour feature wish newsletter address manual".split()
COMMON = "hello our server account team please help with the system user today page since".split()
LEVELS = {"normal": 0, "urgent": 1}


def ticket(rng):
    level = rng.choice(["normal", "urgent"])
    pool = URGENT if level == "urgent" else CALM
    words = rng.choices(COMMON, k=6) + rng.choices(pool, k=2)
    if rng.random() < 0.3:
        words.append(rng.choice(URGENT + CALM))
    rng.shuffle(words)
    return level, " ".join(words)


def dump(n, seed):
    rng = random.Random(seed)
    return io.StringIO("".join("{1}\t{0}\n".format(*ticket(rng)) for _ in range(n)))


def read_dump(handle):
    rows = []
    for line in handle:
        text, level = line.split("\t")
        rows.append((text, LEVELS.get(level, LEVELS["normal"])))
    return rows


def encode(rows, vocab, width=10):
    out = []
    for text, label in rows:
        ids = [1] + [vocab.get(w, 2) for w in text.split()][:width - 1]
        mask = [1] * len(ids) + [0] * (width - len(ids))
        ids = ids + [0] * (width - len(ids))
        out.append({"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": label})
    return out


class Journal(TrainerCallback):
    def __init__(self):
        self.evals = []

    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        self.evals.append((round(state.epoch or 0, 1), metrics["eval_loss"], metrics["eval_accuracy"]))


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def main():
    set_seed(8)
    train_rows, valid_rows = read_dump(dump(800, 1)), read_dump(dump(200, 2))
    words = sorted({w for text, _ in train_rows for w in text.split()})
    vocab = {w: i + 3 for i, w in enumerate(words)}
    config = DistilBertConfig(vocab_size=len(vocab) + 3, dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                              max_position_embeddings=16, num_labels=2)
    args = TrainingArguments(
        output_dir="out", num_train_epochs=4, per_device_train_batch_size=32,
        learning_rate=2e-3, eval_strategy="epoch", save_strategy="no", logging_steps=25,
        report_to=[], disable_tqdm=True,
    )
    journal = Journal()
    trainer = Trainer(
        model=DistilBertForSequenceClassification(config), args=args,
        train_dataset=encode(train_rows, vocab), eval_dataset=encode(valid_rows, vocab),
        compute_metrics=compute_metrics, callbacks=[journal],
    )
    trainer.train()
    for epoch, loss, acc in journal.evals:
        print(f"epoch {epoch}: eval loss {loss:.4f}  accuracy {acc:.3f}")

    rng = random.Random(3)
    fresh = [ticket(rng) for _ in range(200)]
    trial = encode([(text, LEVELS[level]) for level, text in fresh], vocab)
    out = trainer.predict(trial)
    routed = Counter(int(k) for k in out.predictions.argmax(-1))
    print(f"routed {dict(routed)} of {dict(Counter(level for level, _ in fresh))}")
    print(f"agreement on fresh tickets {np.mean(out.predictions.argmax(-1) == out.label_ids):.3f}")


if __name__ == "__main__":
    main()
