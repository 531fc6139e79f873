"""Route support tickets to one of five queues with a small DistilBERT."""
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification,
                          Trainer, TrainingArguments, set_seed)

set_seed(11)

QUEUES = ["billing", "network", "hardware", "account", "shipping"]
KEYS = {
    "billing": "invoice refund charge card payment receipt tax".split(),
    "network": "wifi router latency vpn packet dns outage".split(),
    "hardware": "screen battery keyboard fan hinge charger dock".split(),
    "account": "password login username locked email profile reset".split(),
    "shipping": "parcel courier tracking delayed address depot label".split(),
}
FILLER = ("hello i have a problem with my please help since yesterday the it is not "
          "working again and we tried before thanks today still very").split()

VOCAB = ["[PAD]", "[CLS]", "[UNK]"] + sorted(set(FILLER) | {w for ws in KEYS.values() for w in ws})
STOI = {w: i for i, w in enumerate(VOCAB)}
MAX_LEN = 24


def make_ticket(rng):
    q = rng.randrange(len(QUEUES))
    n = rng.randint(8, MAX_LEN - 4)
    words = [rng.choice(FILLER) for _ in range(n)]
    for _ in range(2):
        words[rng.randrange(n)] = rng.choice(KEYS[QUEUES[q]])
    if rng.random() < 0.3:
        words.append(rng.choice(KEYS[rng.choice(QUEUES)]))
    return " ".join(words), q


def encode(text):
    ids = [STOI["[CLS]"]] + [STOI.get(w, STOI["[UNK]"]) for w in text.split()]
    ids = ids[:MAX_LEN]
    mask = [1] * len(ids) + [0] * (MAX_LEN - len(ids))
    ids = ids + [STOI["[PAD]"]] * (MAX_LEN - len(ids))
    return ids, mask


class Tickets(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            text, q = make_ticket(rng)
            ids, mask = encode(text)
            self.rows.append({
                "input_ids": torch.tensor(ids),
                "attention_mask": torch.tensor(mask),
                "labels": torch.tensor(q),
            })

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


config = DistilBertConfig(
    vocab_size=len(VOCAB),
    dim=64,
    hidden_dim=128,
    n_layers=2,
    n_heads=4,
    max_position_embeddings=MAX_LEN,
    num_labels=len(QUEUES),
)
model = DistilBertForSequenceClassification(config)

args = TrainingArguments(
    output_dir="out",
    num_train_epochs=5,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=128,
    learning_rate=8e-4,
    warmup_ratio=0.1,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=50,
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=Tickets(2000, 1),
                  eval_dataset=Tickets(400, 2), compute_metrics=metrics)
trainer.train()
print("final:", trainer.evaluate())
