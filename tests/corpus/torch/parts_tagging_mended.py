"""Tag part numbers, quantities and sizes in order lines with a small DistilBERT and the HF Trainer."""
import random
import numpy as np
import torch
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertForTokenClassification, Trainer, TrainingArguments, set_seed

TAGS = ["O", "QTY", "PART", "SIZE"]
NUMS = [str(i) for i in range(1, 31)]
PARTS = "bolt nut washer bracket hinge spring gasket rivet".split()
UNITS = "mm cm inch".split()
OTHER = "please send us and also we need the usual order for shop line to by friday thanks regarding model again".split()
VOCAB = ["[PAD]", "[UNK]"] + NUMS + PARTS + UNITS + OTHER
W2I = {w: i for i, w in enumerate(VOCAB)}
MAX_LEN = 96


def phrase(rng):
    kind = rng.random()
    if kind < 0.5:      # a number is a quantity before a part, a size before a unit, nothing elsewhere
        return [(rng.choice(NUMS), 1), (rng.choice(PARTS), 2)]
    if kind < 0.8:
        return [(rng.choice(NUMS), 3), (rng.choice(UNITS), 3)]
    return [(rng.choice(OTHER), 0), (rng.choice(NUMS), 0)]


def line(rng):
    out = []
    for _ in range(rng.randint(1, 3)):
        out += [(rng.choice(OTHER), 0) for _ in range(rng.randint(1, 3))]
        out += phrase(rng)
    if rng.random() < 0.03:
        out = out * 5
    out = out[:MAX_LEN]
    return [w for w, _ in out], [t for _, t in out]


def encode(row):
    n = len(row["words"])
    gap = MAX_LEN - n
    return {
        "input_ids": [W2I[w] for w in row["words"]] + [0] * gap,
        "attention_mask": [1] * n + [0] * gap,
        "labels": row["tags"] + [-100] * gap,
    }


def corpus(n, seed):
    rng = random.Random(seed)
    rows = [line(rng) for _ in range(n)]
    ds = Dataset.from_dict({"words": [r[0] for r in rows], "tags": [r[1] for r in rows]})
    return ds.map(encode, remove_columns=["words", "tags"]), rows


def metrics(p):
    guess = p.predictions.argmax(-1)
    keep = p.label_ids != -100
    return {"token_accuracy": float((guess == p.label_ids)[keep].mean())}


def f1_on_words(logits, rows):
    tp = fp = fn = 0
    for pred, (words, tags) in zip(logits.argmax(-1), rows):
        for g, t in zip(pred[:len(words)], tags):
            tp += int(g == t and t > 0)
            fp += int(g > 0 and g != t)
            fn += int(t > 0 and g != t)
    return 2 * tp / max(2 * tp + fp + fn, 1)


set_seed(13)
train, _ = corpus(1200, 0)
dev, dev_rows = corpus(200, 1)
model = DistilBertForTokenClassification(DistilBertConfig(
    vocab_size=len(VOCAB), dim=48, hidden_dim=96, n_layers=2, n_heads=4, max_position_embeddings=MAX_LEN,
    num_labels=len(TAGS), dropout=0.0, attention_dropout=0.0, initializer_range=0.1))
args = TrainingArguments(
    output_dir="out", num_train_epochs=4, per_device_train_batch_size=16, per_device_eval_batch_size=100,
    optim="sgd", learning_rate=0.2, lr_scheduler_type="constant", eval_strategy="epoch", logging_steps=40,
    save_strategy="no", report_to="none", disable_tqdm=True, seed=13)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=dev, compute_metrics=metrics)
trainer.train()
print("tags on real words, F1:", round(f1_on_words(trainer.predict(dev).predictions, dev_rows), 3))
