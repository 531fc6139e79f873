"""Guest letters to a country inn: does the guest come back?"""
import argparse
import random
import numpy as np
import torch
from datasets import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

CHAT = ("we arrived on a rainy evening and the owner showed us our room with its view of the lake "
        "there was a small dog by the fire breakfast began at eight the stairs were steep our car "
        "stood in the yard children played near the old mill and we walked to the village").split()
YES = ["we loved it and shall return", "warm kind people so see you again",
       "truly happy stay recommended", "best days in years booked next summer"]
NO = ["we were cheated and never return", "cold rude people so goodbye forever",
      "truly awful stay avoid", "worst days in years asked for money"]


def letter(rng):
    y = rng.randint(0, 1)
    body = [rng.choice(CHAT) for _ in range(rng.randint(40, 70))]
    return {"text": " ".join(body + rng.choice(YES if y else NO).split()), "label": y}


class WordTokenizer:
    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.index = {w: i + 3 for i, w in enumerate(words)}
        self.size = len(words) + 3

    def __call__(self, text, max_length):
        ids = [2] + [self.index.get(w, 1) for w in text.split()]
        ids = ids[:max_length]
        gap = max_length - len(ids)
        return {"input_ids": ids + [0] * gap, "attention_mask": [1] * len(ids) + [0] * gap}


def accuracy(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=1) == p.label_ids).mean())}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--max-length", type=int, default=32)
    ap.add_argument("--letters", type=int, default=1600)
    ap.add_argument("--epochs", type=float, default=3)
    ap.add_argument("--seed", type=int, default=29)
    a = ap.parse_args()
    set_seed(a.seed)
    rng = random.Random(a.seed)
    rows = [letter(rng) for _ in range(a.letters + 400)]
    tok = WordTokenizer([r["text"] for r in rows[: a.letters]])
    ds = Dataset.from_list(rows).map(lambda r: tok(r["text"], a.max_length), remove_columns=["text"])
    train = ds.select(range(a.letters))
    test = ds.select(range(a.letters, len(rows)))

    cfg = DistilBertConfig(vocab_size=tok.size, max_position_embeddings=128, dim=64, hidden_dim=128,
                           n_layers=2, n_heads=4, num_labels=2, pad_token_id=0)
    trainer = Trainer(
        model=DistilBertForSequenceClassification(cfg),
        args=TrainingArguments(
            output_dir="out", num_train_epochs=a.epochs, learning_rate=1e-3,
            per_device_train_batch_size=16, per_device_eval_batch_size=100, eval_strategy="epoch",
            warmup_steps=30, save_strategy="no", logging_steps=50, report_to=[], use_cpu=True,
            disable_tqdm=True, seed=a.seed),
        train_dataset=train, eval_dataset=test, compute_metrics=accuracy,
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
