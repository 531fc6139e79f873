"""Severity of depot alert messages (4 grades). Messages come from the signal boxes as they are typed there.

Plain tokenizer of our own, DistilBERT layout, accelerate loop.
"""
import argparse
import os
import re
from collections import Counter

os.environ["USE_TF"] = "0"

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from datasets import Dataset
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertForSequenceClassification, get_scheduler

PARTS = ["Pantograph", "Door", "Bogie", "Compressor", "Inverter", "Coupler", "Horn", "Wiper"]
SIGNS = {0: ["Noted", "Cleaned", "Checked"], 1: ["Noisy", "Worn", "Slow"],
         2: ["Leaking", "Loose", "Overheated"], 3: ["Smoking", "Derailed", "Burning"]}
PLACES = ["Track", "Shed", "Siding", "Bay", "Yard"]


def message(grade, rng):
    words = [f"{rng.choice(PLACES)} {rng.integers(1, 9)}:", "unit", str(rng.choice(PARTS)),
             str(rng.choice(SIGNS[grade])), "seen", "by", "driver"]
    if rng.random() < 0.5:
        words += ["also", str(rng.choice(PARTS)), str(rng.choice(SIGNS[rng.integers(0, grade + 1)]))]
    if rng.random() < 0.4:
        words += ["please", "send", "fitter"]
    return " ".join(words).upper()


class AlertTokenizer:
    def __init__(self, max_len=20):
        self.max_len = max_len
        self.vocab = {"<pad>": 0, "<unk>": 1, "<s>": 2}

    def split(self, text):
        return re.findall(r"[A-Za-z]+|\d|[:]", text)

    def train(self, texts, min_count=2):
        counts = Counter(w for t in texts for w in self.split(t.lower()))
        for word, c in counts.most_common():
            if c >= min_count:
                self.vocab[word] = len(self.vocab)

    def __call__(self, rows):
        ids, masks = [], []
        for text in rows["text"]:
            seq = [2] + [self.vocab.get(w, 1) for w in self.split(text)]
            seq = seq[: self.max_len]
            gap = self.max_len - len(seq)
            ids.append(seq + [0] * gap)
            masks.append([1] * len(seq) + [0] * gap)
        return {"input_ids": ids, "attention_mask": masks}


def load(n, rng):
    grades = rng.integers(0, 4, n)
    return Dataset.from_dict({"text": [message(int(g), rng) for g in grades], "labels": grades.tolist()})


def evaluate(model, loader, accelerator):
    model.eval()
    hits = []
    for batch in loader:
        with torch.no_grad():
            logits = model(**batch).logits
        pred, gold = accelerator.gather_for_metrics((logits.argmax(-1), batch["labels"]))
        hits.append((pred == gold).float())
    model.train()
    return torch.cat(hits).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=1.5e-3)
    ap.add_argument("--batch-size", type=int, default=32)
    args = ap.parse_args()
    set_seed(4)
    rng = np.random.default_rng(4)
    accelerator = Accelerator(cpu=True)

    train, valid = load(1200, rng), load(300, rng)
    tokenizer = AlertTokenizer()
    tokenizer.train(train["text"])
    train = train.map(tokenizer, batched=True, remove_columns=["text"]).with_format("torch")
    valid = valid.map(tokenizer, batched=True, remove_columns=["text"]).with_format("torch")
    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(tokenizer.vocab), max_position_embeddings=tokenizer.max_len,
        dim=48, n_layers=2, n_heads=4, hidden_dim=96, num_labels=4,
    ))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    train_dl = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    valid_dl = DataLoader(valid, batch_size=100)
    model, optimizer, train_dl, valid_dl = accelerator.prepare(model, optimizer, train_dl, valid_dl)
    total = args.epochs * len(train_dl)
    scheduler = get_scheduler("linear", optimizer, num_warmup_steps=total // 10, num_training_steps=total)
    for epoch in range(args.epochs):
        losses = []
        for batch in train_dl:
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        accelerator.print(f"epoch {epoch}: loss {np.mean(losses):.3f}, accuracy {evaluate(model, valid_dl, accelerator):.3f}")


if __name__ == "__main__":
    main()
