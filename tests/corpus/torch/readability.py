"""Predict the reading grade of a passage (regression) with a tiny DistilBERT."""
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          EarlyStoppingCallback, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

EASY = "cat dog run sun big red ball mum dad home play sit look tree boat fish warm soft blue rain".split()
HARD = ("notwithstanding jurisdiction empirical synthesis paradigm hegemony stochastic ontological "
        "remuneration apparatus dialectic constituent inference perpetual sovereignty latent").split()


def build_tokenizer():
    words = ["[PAD]", "[UNK]", "[CLS]"] + EASY + HARD
    t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=t, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]")


def passages(n, seed):
    r = random.Random(seed)
    rows = {"text": [], "label": []}
    for _ in range(n):
        share = r.random()
        words = [r.choice(HARD) if r.random() < share else r.choice(EASY) for _ in range(r.randint(12, 30))]
        hard = sum(w in HARD for w in words) / len(words)
        rows["text"].append("[CLS] " + " ".join(words))
        rows["label"].append(4.0 * hard - 2.0 + r.gauss(0, 0.1))
    return Dataset.from_dict(rows)


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    residual = labels - predictions
    return {
        "mae": float(np.abs(residual).mean()),
        "r2": float(1 - (residual ** 2).mean() / labels.var()),
    }


def main():
    set_seed(42)
    tokenizer = build_tokenizer()
    prep = lambda b: tokenizer(b["text"], truncation=True, max_length=40)
    train = passages(900, 1).map(prep, batched=True)
    valid = passages(250, 2).map(prep, batched=True)
    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(tokenizer), dim=48, n_layers=2, n_heads=4, hidden_dim=96,
        max_position_embeddings=64, num_labels=1, problem_type="regression"))
    args = TrainingArguments(
        output_dir="readability_out", num_train_epochs=8, per_device_train_batch_size=16,
        learning_rate=5e-4, warmup_ratio=0.1, eval_strategy="epoch", save_strategy="epoch",
        save_total_limit=1, load_best_model_at_end=True, metric_for_best_model="r2", greater_is_better=True,
        logging_steps=30, report_to="none")
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                      data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics,
                      callbacks=[EarlyStoppingCallback(early_stopping_patience=4)])
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
