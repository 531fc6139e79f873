"""Route support tickets to a team with a small DistilBERT trained from nothing."""
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification,
                          Trainer, TrainingArguments, set_seed)

set_seed(14)
TEAMS = {
    "billing": "invoice charge refund card payment price vat receipt".split(),
    "network": "router wifi signal outage slow packet cable modem".split(),
    "account": "password login locked email username profile reset code".split(),
    "shipping": "parcel courier delayed address tracking box damaged depot".split(),
    "hardware": "screen battery keyboard fan hinge charger dock port".split(),
    "cancel": "leave contract stop close terminate quit end notice".split(),
}
FILLER = "hello please my the is was today again still and help with need for it since".split()


def write_ticket(team):
    own = random.choices(TEAMS[team], k=random.randint(2, 4))
    other = random.choices(TEAMS[random.choice(list(TEAMS))], k=1)
    words = own + other + random.choices(FILLER, k=random.randint(4, 9))
    random.shuffle(words)
    return " ".join(words)


def make_tickets(n):
    rows = []
    for _ in range(n):
        team = random.choices(list(TEAMS), weights=[6, 5, 4, 3, 2, 2])[0]
        rows.append({"text": write_ticket(team), "team": team})
    return rows


VOCAB = {w: i + 3 for i, w in enumerate(sorted(set(FILLER) | {w for v in TEAMS.values() for w in v}))}
PAD, CLS, UNK = 0, 1, 2


def encode(text, length=20):
    ids = [CLS] + [VOCAB.get(w, UNK) for w in text.split()][: length - 1]
    mask = [1] * len(ids) + [0] * (length - len(ids))
    return ids + [PAD] * (length - len(ids)), mask


def index_labels(rows):
    label2id = {}
    for r in rows:
        label2id.setdefault(r["team"], len(label2id))
    return label2id


class TicketDataset(Dataset):
    def __init__(self, rows, label2id=None):
        self.label2id = label2id or index_labels(rows)
        self.items = []
        for r in rows:
            ids, mask = encode(r["text"])
            self.items.append({"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask),
                               "labels": torch.tensor(self.label2id[r["team"]])})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def accuracy(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


train_rows, test_rows = make_tickets(1600), make_tickets(400)
train_ds = TicketDataset(train_rows)
test_ds = TicketDataset(test_rows, train_ds.label2id)

config = DistilBertConfig(vocab_size=len(VOCAB) + 3, dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                          max_position_embeddings=32, num_labels=len(TEAMS), pad_token_id=PAD)
model = DistilBertForSequenceClassification(config)
args = TrainingArguments(output_dir="out", num_train_epochs=6, learning_rate=1e-3,
                         per_device_train_batch_size=32, per_device_eval_batch_size=128,
                         eval_strategy="epoch", save_strategy="no", logging_steps=25,
                         report_to=[], use_cpu=True, seed=14, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds,
                  compute_metrics=accuracy)
trainer.train()
print("train accuracy", round(trainer.evaluate(train_ds)["eval_accuracy"], 3))
print("test accuracy", round(trainer.evaluate(test_ds)["eval_accuracy"], 3))
