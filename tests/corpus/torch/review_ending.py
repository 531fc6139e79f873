"""Sentiment of short reviews; an ending after 'but' decides. GRU classifier under the HF Trainer with an own collator."""
import random
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

POS = "lovely superb charming brilliant moving witty".split()
NEG = "dull awful clumsy boring cheap tedious".split()
NEU = "the film plot cast score actors story was felt and seemed a bit in parts on screen at times with its long scenes".split()
VOCAB = {w: i for i, w in enumerate(["<pad>", "but"] + POS + NEG + NEU)}


def review(rng):
    first, last = rng.randint(0, 1), rng.randint(0, 1)
    words = [rng.choice(NEU) for _ in range(rng.randint(2, 6))] + [rng.choice(POS if first else NEG)]
    words += ["but"] + [rng.choice(NEU) for _ in range(rng.randint(0, 3))] + [rng.choice(POS if last else NEG)]
    if rng.random() < 0.15:
        words = [rng.choice(NEU) for _ in range(rng.randint(60, 110))] + words
    return {"tokens": [VOCAB[w] for w in words], "label": last}


@dataclass
class PadTo:
    length: int = 128
    pad_id: int = 0

    def __call__(self, rows):
        ids = [r["tokens"] + [self.pad_id] * (self.length - len(r["tokens"])) for r in rows]
        return {"tokens": torch.tensor(ids), "labels": torch.tensor([r["label"] for r in rows])}


class ReviewGRU(nn.Module):
    def __init__(self, vocab, emb=32, hid=48):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb, padding_idx=0)
        self.rnn = nn.GRU(emb, hid, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(hid, 2)

    def forward(self, tokens, labels=None):
        states, _ = self.rnn(self.emb(tokens))
        logits = self.out(self.drop(states[:, -1]))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


def accuracy(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


def main():
    set_seed(21)
    rng = random.Random(21)
    train = [review(rng) for _ in range(2400)]
    dev = [review(rng) for _ in range(400)]
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=4,
        per_device_train_batch_size=24,
        per_device_eval_batch_size=200,
        learning_rate=1e-3,
        lr_scheduler_type="cosine",
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        remove_unused_columns=False,
        report_to="none",
        disable_tqdm=True,
        seed=21,
    )
    trainer = Trainer(model=ReviewGRU(len(VOCAB)), args=args, train_dataset=train, eval_dataset=dev,
                      data_collator=PadTo(), compute_metrics=accuracy)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
