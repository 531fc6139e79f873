"""Slot filling for travel requests with a small BERT token classifier."""
import argparse
import logging
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification, Trainer,
                          TrainingArguments, get_linear_schedule_with_warmup, set_seed)
from transformers import PreTrainedTokenizerFast
from tokenizers import Tokenizer, models, pre_tokenizers

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("slots")

LABELS = ["O", "FROM", "TO", "VIA", "DATE", "PERSON"]
CITIES = [f"city{i}" for i in range(60)]
NAMES = [f"name{i}" for i in range(40)]
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
FILL = "please hello i want need a cheap ticket thanks quickly with my boss and the morning train flight".split()


def request():
    a, b, c = random.sample(CITIES, 3)
    parts = [[("from", "O"), (a, "FROM")], [("to", "O"), (b, "TO")]]
    if random.random() < 0.5:
        parts.append([("via", "O"), (c, "VIA")])
    if random.random() < 0.3:      # "leaving X" means origin, "reach X" destination
        parts[0] = [("leaving", "O"), (a, "FROM")]
    if random.random() < 0.3:
        parts[1] = [("reach", "O"), (b, "TO")]
    if random.random() < 0.6:
        parts.append([("on", "O"), (random.choice(DAYS), "DATE")])
    if random.random() < 0.5:
        parts.append([("for", "O"), (random.choice(NAMES), "PERSON")])
    if random.random() < 0.3:      # a city that is only mentioned
        parts.append([("not", "O"), (random.choice(CITIES), "O")])
    random.shuffle(parts)
    out = []
    for p in parts:
        out += [(w, "O") for w in random.sample(FILL, random.randint(0, 2))] + p
    return [w for w, _ in out], [t for _, t in out]


class Requests(Dataset):
    def __init__(self, n, tok):
        self.rows = []
        for _ in range(n):
            words, tags = request()
            self.rows.append({"input_ids": tok.convert_tokens_to_ids(words),
                              "attention_mask": [1] * len(words),
                              "labels": [LABELS.index(t) for t in tags]})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return dict(self.rows[i])


def slot_f1(p):
    guess, gold = p.predictions.argmax(-1), p.label_ids
    keep = gold != -100
    guess, gold = guess[keep], gold[keep]
    tp = ((guess == gold) & (gold != 0)).sum()
    prec = tp / max((guess != 0).sum(), 1)
    rec = tp / max((gold != 0).sum(), 1)
    return {"precision": prec, "recall": rec, "f1": 2 * prec * rec / max(prec + rec, 1e-9),
            "accuracy": (guess == gold).mean()}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=7)
    ap.add_argument("--bs", type=int, default=16)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--n-train", type=int, default=1200)
    a = ap.parse_args()
    set_seed(17)

    words = ["[PAD]", "[UNK]"] + CITIES + NAMES + DAYS + FILL + "from to via leaving reach on for not".split()
    raw = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]")
    train, test = Requests(a.n_train, tok), Requests(300, tok)

    model = BertForTokenClassification(BertConfig(
        vocab_size=len(words), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=48, initializer_range=0.1, num_labels=len(LABELS)))
    decay = [p for n, p in model.named_parameters() if p.ndim >= 2]
    rest = [p for n, p in model.named_parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}],
                                  lr=a.lr)
    total_steps = len(train) // a.bs + 1
    scheduler = get_linear_schedule_with_warmup(optimizer, int(0.1 * total_steps), total_steps)
    trainer = Trainer(
        model=model,
        args=TrainingArguments("out", num_train_epochs=a.epochs, per_device_train_batch_size=a.bs,
                               per_device_eval_batch_size=100, eval_strategy="epoch", save_strategy="no",
                               logging_strategy="epoch", report_to="none", disable_tqdm=True, seed=17),
        train_dataset=train, eval_dataset=test, data_collator=DataCollatorForTokenClassification(tok),
        compute_metrics=slot_f1, optimizers=(optimizer, scheduler))
    trainer.train()
    res = trainer.evaluate()
    all_o = np.mean([l == 0 for r in test.rows for l in r["labels"]])
    log.info("all-O accuracy %.3f | test accuracy %.3f slot F1 %.3f", all_o, res["eval_accuracy"], res["eval_f1"])


if __name__ == "__main__":
    main()
