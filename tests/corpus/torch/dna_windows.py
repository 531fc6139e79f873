"""Promoter-like motif in fixed windows of DNA, tiny BERT over single bases."""
import os
os.environ["USE_TF"] = "0"
import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

BASES = "ACGT"
WINDOW = 30
MOTIF = "TATAAT"


def windows(n, seed):
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 4, size=(n, WINDOW))
    y = rng.integers(0, 2, size=n)
    motif = np.array([BASES.index(c) for c in MOTIF])
    for i in np.flatnonzero(y):
        at = rng.integers(8, 12)
        ids[i, at:at + len(motif)] = motif
    order = np.argsort(y, kind="stable")
    return [{"input_ids": torch.tensor(ids[i]), "labels": int(y[i])} for i in order]


def compute_metrics(p):
    guess = p.predictions.argmax(-1)
    tp = ((guess == 1) & (p.label_ids == 1)).sum()
    return {"accuracy": float((guess == p.label_ids).mean()),
            "recall": float(tp / max(1, (p.label_ids == 1).sum()))}


def main():
    set_seed(5)
    train, test = windows(1200, 1), windows(300, 2)
    config = BertConfig(
        vocab_size=len(BASES), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=WINDOW, num_labels=2, pad_token_id=None,
    )
    args = TrainingArguments(
        output_dir="out", num_train_epochs=8, per_device_train_batch_size=32,
        learning_rate=3e-3, warmup_ratio=0.15, save_strategy="no", logging_steps=60,
        report_to=[], disable_tqdm=True,
    )
    trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=train,
                      eval_dataset=test, compute_metrics=compute_metrics)
    trainer.train()
    r = trainer.evaluate()
    print(f"test loss {r['eval_loss']:.3f}  accuracy {r['eval_accuracy']:.3f}  recall {r['eval_recall']:.3f}")


if __name__ == "__main__":
    main()
