"""Predict delivery delay (minutes) from a short courier log with a small BERT-like regressor."""
import numpy as np
import torch
from datasets import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed)

EVENTS = ["[PAD]", "[CLS]", "pickup", "traffic", "rain", "wrong_address", "call", "no_answer", "retry",
          "lift_broken", "parking", "depot", "fuel", "handover", "scan", "short_cut", "priority", "idle"]
COST = {"traffic": 7.0, "rain": 3.0, "wrong_address": 11.0, "no_answer": 5.0, "retry": 4.0,
        "lift_broken": 6.0, "parking": 2.5, "fuel": 8.0, "short_cut": -5.0, "priority": -4.0, "idle": 3.5}
MAX_LEN = 20


def make_logs(n, rng):
    rows = {"input_ids": [], "attention_mask": [], "minutes": []}
    for _ in range(n):
        length = int(rng.integers(6, MAX_LEN))
        ids = rng.integers(2, len(EVENTS), size=length)
        delay = 10.0
        for k, e in enumerate(ids):
            c = COST.get(EVENTS[e], 0.0)
            if k > 0 and EVENTS[ids[k - 1]] == "priority":
                c *= 0.5
            delay += c
        delay += rng.normal(0, 1.5)
        pad = MAX_LEN - length - 1
        rows["input_ids"].append([1, *ids.tolist()] + [0] * pad)
        rows["attention_mask"].append([1] * (length + 1) + [0] * pad)
        rows["minutes"].append(float(delay))
    return rows


def main():
    set_seed(13)
    rng = np.random.default_rng(13)
    train_rows, val_rows, test_rows = make_logs(2500, rng), make_logs(400, rng), make_logs(400, rng)
    mu, sd = np.mean(train_rows["minutes"]), np.std(train_rows["minutes"])

    def to_dataset(rows):
        rows = dict(rows)
        rows["labels"] = [(m - mu) / sd for m in rows.pop("minutes")]
        return Dataset.from_dict(rows)

    train_ds, val_ds, test_ds = map(to_dataset, (train_rows, val_rows, test_rows))

    config = BertConfig(vocab_size=len(EVENTS), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=128, max_position_embeddings=32, num_labels=1,
                        problem_type="regression", hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.05)
    model = BertForSequenceClassification(config)

    def compute_metrics(pred):
        err = (pred.predictions.reshape(-1) - pred.label_ids.reshape(-1)) * sd
        return {"mae": float(np.abs(err).mean()), "rmse": float(np.sqrt((err ** 2).mean()))}

    args = TrainingArguments(
        output_dir="out/delivery",
        num_train_epochs=5,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=200,
        learning_rate=1e-3,
        lr_scheduler_type="cosine",
        warmup_ratio=0.1,
        weight_decay=0.01,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="mae",
        greater_is_better=False,
        logging_steps=40,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        seed=13,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=val_ds,
                      compute_metrics=compute_metrics)
    trainer.train()

    test = trainer.evaluate(test_ds, metric_key_prefix="test")
    base = np.abs(np.array(test_rows["minutes"]) - np.median(train_rows["minutes"])).mean()
    print(f"test MAE {test['test_mae']:.2f} min, RMSE {test['test_rmse']:.2f} min "
          f"(median baseline MAE {base:.2f})")
    trainer.save_model("out/delivery/final")


if __name__ == "__main__":
    main()
