"""Siamese encoder that says whether two questions are paraphrases."""
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, get_linear_schedule_with_warmup, set_seed

set_seed(3)
INTENTS = {
    "refund": ["refund", "money", "back", "return", "reimburse"],
    "login": ["login", "password", "account", "reset", "signin"],
    "delivery": ["parcel", "delivery", "courier", "shipping", "late"],
    "invoice": ["invoice", "bill", "receipt", "vat", "tax"],
    "cancel": ["cancel", "stop", "subscription", "plan", "end"],
    "upgrade": ["upgrade", "premium", "bigger", "tier", "features"],
}
FILLER = "how do i can you please my the a for what is about to get with it".split()
VOCAB = {w: i + 1 for i, w in enumerate(sorted(set(FILLER) | {w for v in INTENTS.values() for w in v}))}
LENGTH = 10


def question(intent, rng):
    words = rng.sample(INTENTS[intent], 2) + rng.choices(FILLER, k=rng.randint(3, 8))
    rng.shuffle(words)
    ids = [VOCAB[w] for w in words][:LENGTH]
    return ids + [0] * (LENGTH - len(ids))


class PairDataset(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        names = list(INTENTS)
        self.rows = []
        for _ in range(n):
            same = rng.random() < 0.5
            a = rng.choice(names)
            b = a if same else rng.choice([k for k in names if k != a])
            self.rows.append((question(a, rng), question(b, rng), float(same)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        a, b, y = self.rows[i]
        return {"left": torch.tensor(a), "right": torch.tensor(b), "labels": torch.tensor(y)}


class Siamese(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(len(VOCAB) + 1, dim, padding_idx=0)
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, dim))
        self.scale = nn.Parameter(torch.tensor(5.0))
        self.shift = nn.Parameter(torch.tensor(0.0))

    def encode(self, ids):
        keep = (ids > 0).unsqueeze(-1).float()
        pooled = (self.emb(ids) * keep).sum(1) / keep.sum(1).clamp(min=1)
        return nn.functional.normalize(self.proj(pooled), dim=-1)

    def forward(self, left, right, labels=None):
        cos = (self.encode(left) * self.encode(right)).sum(-1)
        logits = self.scale * cos + self.shift
        out = {"logits": logits}
        if labels is not None:
            out = {"loss": nn.functional.binary_cross_entropy_with_logits(logits, labels), **out}
        return out


def pair_accuracy(p):
    return {"accuracy": float(((p.predictions > 0) == (p.label_ids > 0.5)).mean())}


train, dev = PairDataset(2000, 1), PairDataset(500, 2)
model = Siamese()
args = TrainingArguments(
    output_dir="out", num_train_epochs=6, per_device_train_batch_size=32,
    per_device_eval_batch_size=128, eval_strategy="epoch", save_strategy="no",
    logging_steps=60, report_to="none", use_cpu=True, disable_tqdm=True,
)
steps = args.num_train_epochs * int(np.ceil(len(train) / args.per_device_train_batch_size))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scheduler = get_linear_schedule_with_warmup(
    optimizer,
    num_warmup_steps=int(0.1 * steps),
    t_total=steps,
)
trainer = Trainer(
    model=model, args=args, train_dataset=train, eval_dataset=dev,
    compute_metrics=pair_accuracy, optimizers=(optimizer, scheduler),
)
trainer.train()
print("dev accuracy", round(trainer.evaluate()["eval_accuracy"], 3))
