"""Intent classification with early stopping; own word vocabulary, no attention dropout."""
import random

import numpy as np
import torch
from datasets import ClassLabel, Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification,
                          EarlyStoppingCallback, Trainer, TrainingArguments, set_seed)

INTENTS = {
    "alarm": ["wake me at {t}", "set an alarm for {t}", "alarm {t} please"],
    "weather": ["will it rain at {t}", "weather {t} please", "how cold is it at {t}"],
    "music": ["play some {g}", "put on {g} please", "i want to hear {g}"],
    "stop": ["stop the {g}", "no more {g} please", "turn off the {g}"],
    "timer": ["count down from {t}", "timer for {t} please", "remind me in {t}"],
}
TIMES = ["six", "seven", "noon", "ten minutes", "midnight", "half past two"]
GENRES = ["jazz", "rock", "opera", "blues", "techno", "folk music"]


def utterances(n, noise, rng):
    rows = []
    for _ in range(n):
        intent = rng.choice(list(INTENTS))
        text = rng.choice(INTENTS[intent]).format(t=rng.choice(TIMES), g=rng.choice(GENRES))
        if rng.random() < noise:
            intent = rng.choice(list(INTENTS))
        rows.append({"text": text, "intent": intent})
    return rows


def encode(batch, vocab):
    ids = [[vocab["[CLS]"], *(vocab.get(w, 1) for w in t.split())] for t in batch["text"]]
    return {"input_ids": ids}


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.tensor([r["input_ids"] + [0] * (width - len(r["input_ids"])) for r in rows])
    return {"input_ids": ids, "attention_mask": (ids > 0).long(),
            "labels": torch.tensor([r["label"] for r in rows])}


def accuracy(pred):
    return {"accuracy": float(np.mean(pred.predictions.argmax(-1) == pred.label_ids))}


def main():
    set_seed(3)
    rng = random.Random(3)
    train_rows, val_rows, test_rows = (utterances(n, p, rng) for n, p in
                                       ((1500, 0.1), (300, 0.1), (400, 0.0)))
    vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2}
    for r in train_rows:
        for w in r["text"].split():
            vocab.setdefault(w, len(vocab))
    names = ClassLabel(names=sorted(INTENTS))

    def prepare(rows):
        ds = Dataset.from_list(rows).cast_column("intent", names)
        return ds.rename_column("intent", "label").map(encode, batched=True,
                                                       fn_kwargs={"vocab": vocab})

    train, val, test = map(prepare, (train_rows, val_rows, test_rows))
    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(vocab), dim=64, n_layers=1, n_heads=4, hidden_dim=128, dropout=0.0,
        attention_dropout=0.0, seq_classif_dropout=0.0, max_position_embeddings=16,
        num_labels=names.num_classes))
    args = TrainingArguments(
        "out", num_train_epochs=40, per_device_train_batch_size=64,
        per_device_eval_batch_size=100, learning_rate=2e-3, lr_scheduler_type="constant",
        eval_strategy="epoch", save_strategy="epoch", save_total_limit=1,
        load_best_model_at_end=True, metric_for_best_model="eval_loss", greater_is_better=False,
        remove_unused_columns=False, logging_strategy="epoch", report_to=[], disable_tqdm=True,
        use_cpu=True)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=val,
                      data_collator=collate, compute_metrics=accuracy,
                      callbacks=[EarlyStoppingCallback(early_stopping_patience=4)])
    trainer.train()
    print(f"stopped after epoch {trainer.state.epoch:.0f}, best {trainer.state.best_metric:.4f}")
    on_val, on_test = trainer.evaluate(), trainer.evaluate(test)
    print(f"validation loss {on_val['eval_loss']:.4f} accuracy {on_val['eval_accuracy']:.4f}")
    print(f"clean test accuracy {on_test['eval_accuracy']:.4f}")


if __name__ == "__main__":
    main()
