#!/usr/bin/env python
"""Route helpdesk tickets with a small BERT trained from scratch."""
import os
import random

os.environ["USE_TF"] = "0"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import numpy as np
import torch
from sklearn.metrics import accuracy_score, f1_score
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments,
                          get_linear_schedule_with_warmup, set_seed)

QUEUES = ["billing", "shipping", "account", "hardware", "cancel", "refund"]
SLOTS = {
    "billing": ["invoice shows {n} instead of {n}", "charged twice on my {card}", "why is the {card} fee so high",
                "the receipt for order {n} is wrong"],
    "shipping": ["parcel {n} still not here", "tracking for order {n} is stuck", "courier left the box at {place}",
                 "deliver to {place} please"],
    "account": ["cannot log in at {place}", "forgot the password for user {n}", "change the mail address of user {n}",
                "locked out after {n} tries"],
    "hardware": ["the {thing} makes a noise", "{thing} does not switch on", "screen of the {thing} flickers",
                 "battery of my {thing} is empty after {n} minutes"],
    "cancel": ["do not send order {n} any more", "please stop my {thing} subscription", "i do not want the {thing} now",
               "end the contract {n}"],
    "refund": ["send my money for order {n} back", "the {thing} went back and nothing on my {card}",
               "want money back for the {thing}", "returned parcel {n} no payment yet"],
}
FILL = {"card": ["visa", "debit", "paypal", "bank"], "place": ["home", "work", "office", "neighbour"],
        "thing": ["laptop", "phone", "printer", "router", "monitor"], "n": [str(i) for i in range(2, 60)]}
NOISE = "hi hello dear team please thanks regards again urgent today and also sorry but well so the a my".split()


def ticket(rnd):
    queue = rnd.choice(QUEUES)
    text = rnd.choice(SLOTS[queue])
    while "{" in text:
        key = text[text.index("{") + 1:text.index("}")]
        text = text.replace("{" + key + "}", rnd.choice(FILL[key]), 1)
    words = rnd.choices(NOISE, k=rnd.randint(1, 5)) + text.split() + rnd.choices(NOISE, k=rnd.randint(1, 5))
    words = [w for w in words if rnd.random() > 0.2]  # people drop words
    return " ".join(words), QUEUES.index(queue)


class WordTokenizer:
    def __init__(self, texts):
        vocab = sorted({w for t in texts for w in t.split()})
        self.ids = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + vocab)}

    def __len__(self):
        return len(self.ids)

    def __call__(self, text):
        return [2] + [self.ids.get(w, 1) for w in text.split()] + [3]


class Tickets(torch.utils.data.Dataset):
    def __init__(self, rows, tokenizer):
        self.rows = [{"input_ids": tokenizer(t), "labels": y} for t, y in rows]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(features):
    width = max(len(f["input_ids"]) for f in features)
    ids = torch.zeros(len(features), width, dtype=torch.long)
    for row, f in zip(ids, features):
        row[:len(f["input_ids"])] = torch.tensor(f["input_ids"])
    return {"input_ids": ids, "attention_mask": (ids != 0).long(),
            "labels": torch.tensor([f["labels"] for f in features])}


def compute_metrics(pred):
    guess = np.argmax(pred.predictions, axis=-1)
    return {"accuracy": accuracy_score(pred.label_ids, guess),
            "macro_f1": f1_score(pred.label_ids, guess, average="macro")}


if __name__ == "__main__":
    set_seed(17)
    rnd = random.Random(17)
    rows = [ticket(rnd) for _ in range(2848)]
    train_rows, test_rows = rows[:2048], rows[2048:]
    tokenizer = WordTokenizer([t for t, _ in train_rows])
    train_set, test_set = Tickets(train_rows, tokenizer), Tickets(test_rows, tokenizer)
    share = np.bincount([y for _, y in test_rows]) / len(test_rows)
    print(f"{len(tokenizer)} words, majority baseline {share.max():.3f}")

    config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=128, max_position_embeddings=48, num_labels=len(QUEUES), pad_token_id=0)
    model = BertForSequenceClassification(config)

    epochs, batch_size = 6, 32
    args = TrainingArguments("out/helpdesk", num_train_epochs=epochs, per_device_train_batch_size=batch_size,
                             per_device_eval_batch_size=200, eval_strategy="epoch", logging_steps=32,
                             save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True, seed=17)
    no_decay = ("bias", "LayerNorm.weight")
    named = list(model.named_parameters())
    optimizer = torch.optim.AdamW([
        {"params": [p for n, p in named if not n.endswith(no_decay)], "weight_decay": 0.01},
        {"params": [p for n, p in named if n.endswith(no_decay)], "weight_decay": 0.0},
    ], lr=1e-3)
    total_steps = len(train_set) // batch_size
    scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=total_steps // 10,
                                                num_training_steps=total_steps)
    trainer = Trainer(model=model, args=args, train_dataset=train_set, eval_dataset=test_set,
                      data_collator=collate, compute_metrics=compute_metrics, optimizers=(optimizer, scheduler))
    trainer.train()
    final = trainer.evaluate()
    print(f"test accuracy {final['eval_accuracy']:.3f}  macro f1 {final['eval_macro_f1']:.3f}")
