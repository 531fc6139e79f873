"""Hotel review sentiment with negation, small BERT through Trainer."""
import argparse
import random
import tempfile

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

GOOD = "lovely clean quiet friendly superb comfy bright cheerful".split()
BAD = "dirty noisy rude awful damp dark stale broken".split()
THINGS = "room bed staff lobby breakfast shower pool view carpet bar".split()
GLUE = "the was and our really very quite but then also stay night".split()
VOCAB = ["[PAD]", "[CLS]", "[SEP]", "not"] + GOOD + BAD + THINGS + GLUE
TOK = {w: i for i, w in enumerate(VOCAB)}


def review(r):
    score, words = 0, []
    for _ in range(3):
        words += ["the", r.choice(THINGS), "was"]
        neg = r.random() < 0.3
        positive = r.random() < 0.5
        if neg:
            words.append("not")
        if r.random() < 0.4:
            words.append(r.choice(["really", "very", "quite"]))
        words.append(r.choice(GOOD if positive else BAD))
        score += 1 if positive != neg else -1
        words.append(r.choice(["and", "but", "then", "also"]))
    return words[:-1], int(score > 0)


class Reviews(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        r = random.Random(seed)
        self.items = [review(r) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        words, label = self.items[i]
        return {"ids": [TOK["[CLS]"]] + [TOK[w] for w in words] + [TOK["[SEP]"]], "label": label}


class Collator:
    def __call__(self, batch):
        n = max(len(b["ids"]) for b in batch)
        ids = torch.tensor([b["ids"] + [0] * (n - len(b["ids"])) for b in batch])
        return {"input_ids": ids, "attention_mask": (ids != 0).long(),
                "labels": torch.tensor([b["label"] for b in batch])}


def accuracy(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--train-size", type=int, default=3200)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--warmup", type=int, default=50)
    return p.parse_args()


if __name__ == "__main__":
    a = parse()
    set_seed(21)
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=40, num_labels=2))
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=a.epochs, per_device_train_batch_size=a.batch,
        per_device_eval_batch_size=200, learning_rate=a.lr, warmup_steps=a.warmup, lr_scheduler_type="linear",
        weight_decay=0.01, eval_strategy="epoch", logging_steps=50, save_strategy="no", report_to="none",
        remove_unused_columns=False, use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, data_collator=Collator(), train_dataset=Reviews(a.train_size, 1),
                      eval_dataset=Reviews(600, 2), compute_metrics=accuracy)
    trainer.train()
    print("final", trainer.evaluate()["eval_accuracy"])
