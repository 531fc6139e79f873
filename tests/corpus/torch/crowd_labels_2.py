"""Complaint routing from two label sources.

A few tickets were labelled by staff, most by a crowd that tends to mistake one
queue for another; each row has a trust value that scales its loss.
"""
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

QUEUES = ["billing", "network", "device", "contract"]
CUES = [
    "invoice charge refund paid fee bank".split(),
    "signal outage slow router mast drop".split(),
    "screen battery charger cracked button reboot".split(),
    "cancel renew term upgrade notice clause".split(),
]
NOISE = "i my you please since monday still call called it is and the when yesterday hello again want".split()
VOCAB = ["[PAD]", "[CLS]"] + NOISE + [w for c in CUES for w in c]
W2I = {w: i for i, w in enumerate(VOCAB)}
LEN = 16


def ticket(rng, q):
    words = list(rng.choice(CUES[q], 2)) + list(rng.choice(NOISE, 10))
    if rng.random() < 0.4:
        words.append(rng.choice(CUES[rng.integers(4)]))
    rng.shuffle(words)
    return [1] + [W2I[w] for w in words]


def corpus(n, seed, crowd_share):
    rng = np.random.default_rng(seed)
    cols = {"input_ids": [], "attention_mask": [], "labels": [], "trust": []}
    for _ in range(n):
        q = int(rng.integers(4))
        ids = ticket(rng, q)
        crowd = rng.random() < crowd_share
        label = q
        if crowd and rng.random() < 0.6:
            label = (q + 1) % 4
        pad = LEN - len(ids)
        cols["input_ids"].append(ids + [0] * pad)
        cols["attention_mask"].append([1] * len(ids) + [0] * pad)
        cols["labels"].append(label)
        cols["trust"].append(0.02 if crowd else 1.0)
    return Dataset.from_dict(cols)


class TrustTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        trust = inputs.pop("trust", None)
        outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        per_row = F.cross_entropy(outputs.logits, labels, reduction="none")
        if trust is None:
            loss = per_row.mean()
        else:
            loss = (per_row * trust).sum() / trust.sum()
        return (loss, outputs) if return_outputs else loss


def score(p):
    guess = p.predictions.argmax(-1)
    return {"accuracy": float((guess == p.label_ids).mean())}


def main():
    set_seed(13)
    train, test = corpus(3000, 1, 0.7), corpus(600, 2, 0.0)
    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(VOCAB), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
        max_position_embeddings=LEN, num_labels=4))
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=6,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        learning_rate=5e-4,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = TrustTrainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=score)
    trainer.train()
    print("staff-labelled test:", trainer.evaluate()["eval_accuracy"])


if __name__ == "__main__":
    main()
