"""Predict the star rating of a shop review with a small BERT and the HF Trainer."""
from dataclasses import dataclass, field

import numpy as np
from datasets import Dataset, DatasetDict
from transformers import (BertConfig, BertForSequenceClassification, DefaultDataCollator,
                          Trainer, TrainingArguments, set_seed)


@dataclass
class Setup:
    n_train: int = 1500
    n_test: int = 300
    max_len: int = 16
    epochs: int = 6
    lr: float = 8e-4
    seed: int = 2
    out: str = "out"
    stars: list = field(default_factory=lambda: [1, 2, 3, 4, 5])


PHRASES = {
    1: "terrible awful refund never garbage useless horrible".split(),
    2: "poor weak disappointing flimsy late cheap meh".split(),
    3: "average okay fine passable ordinary usual mixed".split(),
    4: "good solid nice handy pleasant sturdy reliable".split(),
    5: "excellent perfect amazing love superb brilliant fantastic".split(),
}
NEUTRAL = "the it was box came i bought this for my and product shop week colour size order".split()
VOCAB = ["[PAD]", "[CLS]"] + NEUTRAL + [w for ws in PHRASES.values() for w in ws]
ID = {w: i for i, w in enumerate(VOCAB)}


def write_review(rng, stars):
    s = int(rng.choice(stars, p=[0.12, 0.13, 0.2, 0.25, 0.3]))
    words = list(rng.choice(NEUTRAL, rng.integers(5, 10)))
    words += list(rng.choice(PHRASES[s], 2))
    if rng.random() < 0.3:
        words.append(rng.choice(PHRASES[min(5, max(1, s + rng.choice([-1, 1])))]))
    rng.shuffle(words)
    return {"review": " ".join(words), "rating": s}


def load(cfg):
    rng = np.random.default_rng(cfg.seed)
    make = lambda n: Dataset.from_list([write_review(rng, cfg.stars) for _ in range(n)])
    return DatasetDict(train=make(cfg.n_train), test=make(cfg.n_test))


def preprocess(cfg):
    def fn(row):
        ids = [ID["[CLS]"]] + [ID[w] for w in row["review"].split()][: cfg.max_len - 1]
        pad = cfg.max_len - len(ids)
        return {
            "input_ids": ids + [0] * pad,
            "attention_mask": [1] * len(ids) + [0] * pad,
            "labels": row["rating"] - 1,
        }
    return fn


def metrics(pred):
    guess = pred.predictions.argmax(-1)
    return {"acc": float((guess == pred.label_ids).mean()),
            "mae": float(np.abs(guess - pred.label_ids).mean())}


def main():
    cfg = Setup()
    set_seed(cfg.seed)
    data = load(cfg).map(preprocess(cfg), remove_columns=["review", "rating"])
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=128, max_position_embeddings=cfg.max_len, num_labels=len(cfg.stars)))
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=cfg.out, num_train_epochs=cfg.epochs, learning_rate=cfg.lr, warmup_ratio=0.1,
            per_device_train_batch_size=32, per_device_eval_batch_size=100, eval_strategy="epoch",
            save_strategy="no", logging_steps=20, report_to="none", use_cpu=True, disable_tqdm=True,
            seed=cfg.seed),
        train_dataset=data["train"], eval_dataset=data["test"],
        data_collator=DefaultDataCollator(), compute_metrics=metrics)
    trainer.train()
    print({k: round(v, 3) for k, v in trainer.evaluate().items() if k in ("eval_acc", "eval_mae")})


if __name__ == "__main__":
    main()
