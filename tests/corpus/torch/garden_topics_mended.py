"""Tag garden forum questions with any of five topics."""
import tempfile

import numpy as np
import torch
from datasets import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

TOPICS = {
    "soil": "compost clay loam mulch peat digging acid lime".split(),
    "pests": "slug aphid mite beetle caterpillar spray bite trap".split(),
    "water": "hose drip flood drought barrel sprinkler wilt damp".split(),
    "fruit": "apple pear plum cherry graft orchard berry prune".split(),
    "tools": "spade fork mower rake shears handle blade barrow".split(),
}
FILLER = "my the has in a this year we again why does need some help please near back garden old new many".split()
VOCAB = ["[PAD]", "[CLS]"] + FILLER + sum(TOPICS.values(), [])
INDEX = {w: i for i, w in enumerate(VOCAB)}
MAX_LEN = 24


def question(rng):
    picks = [t for t in TOPICS if rng.random() < 0.35]
    words = list(rng.choice(FILLER, rng.integers(5, 9)))
    for t in picks:
        words += list(rng.choice(TOPICS[t], 2))
    rng.shuffle(words)
    return " ".join(words), picks


def encode(row):
    ids = [1] + [INDEX[w] for w in row["text"].split()][:MAX_LEN - 1]
    pad = MAX_LEN - len(ids)
    return {
        "input_ids": ids + [0] * pad,
        "attention_mask": [1] * len(ids) + [0] * pad,
        "labels": [float(t in row["topics"]) for t in TOPICS],
    }


def build(n, seed):
    rng = np.random.default_rng(seed)
    rows = [question(rng) for _ in range(n)]
    ds = Dataset.from_dict({"text": [r[0] for r in rows], "topics": [r[1] for r in rows]})
    return ds.map(encode, remove_columns=["text", "topics"])


def metrics(pred):
    hard = pred.predictions > 0
    gold = pred.label_ids > 0.5
    tp = (hard & gold).sum()
    f1 = 2 * tp / max(1, hard.sum() + gold.sum())
    return {"micro_f1": float(f1), "exact": float((hard == gold).all(1).mean())}


def main():
    set_seed(8)
    config = DistilBertConfig(
        vocab_size=len(VOCAB), dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=MAX_LEN,
        num_labels=len(TOPICS), problem_type="multi_label_classification",
        id2label=dict(enumerate(TOPICS)), label2id={t: i for i, t in enumerate(TOPICS)},
    )
    model = DistilBertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="garden"), num_train_epochs=8, per_device_train_batch_size=32,
        per_device_eval_batch_size=128, learning_rate=2e-3, eval_strategy="epoch", logging_strategy="epoch",
        save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=build(2500, 1), eval_dataset=build(500, 2),
                      compute_metrics=metrics)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
