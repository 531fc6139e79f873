"""Incident severity from short reports; every report carries a confidence from the annotation pool."""
import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

SEED = 5
set_seed(SEED)
rng = np.random.default_rng(SEED)

LEVELS = {
    0: "scratch dust minor cosmetic stain loose".split(),
    1: "leak delay vibration overheating crack alarm".split(),
    2: "fire injury explosion collapse evacuation outage".split(),
}
COMMON = "the unit at line was seen by operator during shift report with near pump door and".split()
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]"] + COMMON + sum(LEVELS.values(), []))}
MAX_LEN = 14


def write_report(level):
    words = list(rng.choice(COMMON, size=rng.integers(6, 10)))
    words += list(rng.choice(LEVELS[level], size=2))
    noise = int(rng.integers(0, 3))
    words += list(rng.choice(LEVELS[noise], size=1))
    rng.shuffle(words)
    return " ".join(words)


def encode(text):
    ids = [VOCAB["[CLS]"]] + [VOCAB[w] for w in text.split()]
    ids = ids[:MAX_LEN]
    mask = [1] * len(ids) + [0] * (MAX_LEN - len(ids))
    return ids + [VOCAB["[PAD]"]] * (MAX_LEN - len(ids)), mask


def build(n, crowd_share):
    rows = {"input_ids": [], "attention_mask": [], "labels": [], "confidence": []}
    for _ in range(n):
        level = int(rng.integers(0, 3))
        ids, mask = encode(write_report(level))
        crowd = rng.random() < crowd_share
        if crowd and rng.random() < 0.75:
            level = max(level - 1, 0)
        rows["input_ids"].append(ids)
        rows["attention_mask"].append(mask)
        rows["labels"].append(level)
        rows["confidence"].append(0.02 if crowd else 1.0)
    return Dataset.from_dict(rows)


class ConfidenceTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        confidence = inputs.pop("confidence", None)
        labels = inputs["labels"]
        outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        per_row = F.cross_entropy(outputs.logits, labels, reduction="none")
        if confidence is not None:
            loss = (per_row * confidence).sum() / confidence.sum()
        else:
            loss = per_row.mean()
        return (loss, outputs) if return_outputs else loss


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    recalls = [float((guess[pred.label_ids == k] == k).mean()) for k in LEVELS]
    return {"accuracy": float((guess == pred.label_ids).mean()), "worst_recall": min(recalls)}


def main():
    train = build(2400, crowd_share=0.7)
    test = build(500, crowd_share=0.0)
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=MAX_LEN, num_labels=3))
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=5,
        per_device_train_batch_size=48,
        per_device_eval_batch_size=128,
        learning_rate=8e-4,
        lr_scheduler_type="cosine",
        logging_steps=50,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = ConfidenceTrainer(model=model, args=args, train_dataset=train,
                                eval_dataset=test, compute_metrics=compute_metrics)
    trainer.train()
    scores = trainer.evaluate()
    print("gold test accuracy %.4f worst recall %.4f loss %.4f" % (
        scores["eval_accuracy"], scores["eval_worst_recall"], scores["eval_loss"]))


if __name__ == "__main__":
    main()
