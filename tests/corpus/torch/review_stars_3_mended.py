"""Predict the star rating of short hotel reviews with a small BERT trained from scratch."""
import random

import numpy as np
from datasets import Dataset, DatasetDict
from sklearn.metrics import accuracy_score, mean_absolute_error
from transformers import (BertConfig, BertForSequenceClassification, Trainer,
                          TrainingArguments, default_data_collator, set_seed)

SEED = 11
MAX_LEN = 20
WORDS = {
    "awful": -2, "filthy": -2, "horrible": -2, "rude": -2,
    "noisy": -1, "small": -1, "slow": -1, "cold": -1,
    "okay": 0, "average": 0, "plain": 0,
    "clean": 1, "friendly": 1, "quiet": 1, "comfy": 1,
    "superb": 2, "perfect": 2, "stunning": 2, "lovely": 2,
}
THINGS = ["room", "staff", "breakfast", "bed", "pool", "lobby", "shower", "view"]
FILLER = ["the", "was", "and", "we", "found", "our", "really", "stay"]


def write_review(rng):
    mood = rng.randint(1, 5)
    pool = [w for w, s in WORDS.items() if abs(s - (mood - 3)) <= 1]
    words, score = [], 0
    n = rng.randint(2, 4)
    for _ in range(n):
        adj = rng.choice(pool)
        score += WORDS[adj]
        words += [rng.choice(FILLER), rng.choice(THINGS), "was", adj]
    stars = int(np.clip(round(score / n) + 3, 1, 5))
    return {"text": " ".join(words), "stars": stars}


def build_splits():
    rng = random.Random(SEED)
    rows = [write_review(rng) for _ in range(1700)]
    return DatasetDict({
        "train": Dataset.from_list(rows[:1200]),
        "validation": Dataset.from_list(rows[1200:1400]),
        "test": Dataset.from_list(rows[1400:]),
    })


class WordTokenizer:
    def __init__(self, texts):
        vocab = sorted({w for t in texts for w in t.split()})
        self.ids = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2}
        for w in vocab:
            self.ids[w] = len(self.ids)

    def __call__(self, text):
        ids = [2] + [self.ids.get(w, 1) for w in text.split()][: MAX_LEN - 1]
        pad = MAX_LEN - len(ids)
        return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad}


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    pred = logits.argmax(-1)
    return {"accuracy": accuracy_score(labels, pred), "mae": mean_absolute_error(labels, pred)}


def main():
    set_seed(SEED)
    raw = build_splits()
    tok = WordTokenizer(raw["train"]["text"])

    def preprocess(example):
        enc = tok(example["text"])
        enc["labels"] = example["stars"] - 1
        return enc

    data = raw.map(preprocess, remove_columns=["text", "stars"])
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(tok.ids), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=MAX_LEN, num_labels=5,
    ))
    args = TrainingArguments(
        output_dir="out/reviews", num_train_epochs=8, learning_rate=2e-3,
        per_device_train_batch_size=32, per_device_eval_batch_size=128,
        warmup_ratio=0.1, weight_decay=0.01, eval_strategy="epoch", save_strategy="no",
        logging_steps=40, report_to="none", disable_tqdm=True, use_cpu=True, seed=SEED,
    )
    trainer = Trainer(model=model, args=args, train_dataset=data["train"],
                      eval_dataset=data["validation"], compute_metrics=compute_metrics,
                      data_collator=default_data_collator)
    trainer.train()
    scores = trainer.evaluate(data["test"], metric_key_prefix="test")
    labels = np.array(data["test"]["labels"])
    majority = np.bincount(np.array(data["train"]["labels"])).argmax()
    print("majority accuracy: %.3f" % (labels == majority).mean())
    print("test accuracy: %.3f  star MAE: %.3f" % (scores["test_accuracy"], scores["test_mae"]))


if __name__ == "__main__":
    main()
