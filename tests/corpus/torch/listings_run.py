import random
import numpy as np
import torch
from torch import nn
from datasets import Dataset
from transformers import EvalPrediction, Trainer, TrainingArguments, set_seed

set_seed(21)
brands = ["acme", "nordic", "lumo", "kibo", "zenit", "orion"]
things = ["kettle", "lamp", "drill", "router", "speaker", "toaster", "heater"]
colours = ["black", "white", "red", "blue", "steel"]
extras = ["new", "sale", "free shipping", "original", "2 year warranty", "boxed"]


def title(p):
    parts = list(p) + random.sample(extras, random.randint(0, 2))
    random.shuffle(parts)
    return " ".join(parts)


def pair():
    p = (random.choice(brands), random.choice(things), random.choice(colours))
    if random.random() < 0.5:
        return title(p), title(p), 1
    q = list(p)
    k = random.randrange(3)
    q[k] = random.choice([w for w in (brands, things, colours)[k] if w != p[k]])
    return title(p), title(q), 0


rows = [pair() for _ in range(2400)]
vocab = {}
for a, b, _ in rows:
    for w in (a + " " + b).split():
        vocab.setdefault(w, len(vocab) + 1)


def encode(t, n=12):
    ids = [vocab[w] for w in t.split()]
    return ids + [0] * (n - len(ids))


ds = Dataset.from_dict({"left": [encode(a) for a, _, _ in rows], "right": [encode(b) for _, b, _ in rows],
                        "labels": [float(y) for *_, y in rows]}).train_test_split(0.2, seed=0)


class Siamese(nn.Module):
    def __init__(self, dim=64, margin=1.0):
        super().__init__()
        self.emb = nn.EmbeddingBag(len(vocab) + 1, dim, mode="sum", padding_idx=0)
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, 32))
        self.margin = margin

    def forward(self, left, right, labels=None):
        a, b = self.proj(self.emb(left)), self.proj(self.emb(right))
        dist = ((a - b) ** 2).sum(-1).sqrt()
        out = {"dist": dist}
        if labels is not None:
            out["loss"] = (labels * dist ** 2 + (1 - labels) * torch.relu(self.margin - dist) ** 2).mean()
        return out


def metrics(p: EvalPrediction):
    dist = p.predictions
    return {"accuracy": float(((dist < 0.5) == (p.label_ids > 0.5)).mean()), "mean_dist": float(np.mean(dist))}


args = TrainingArguments("out_listings", num_train_epochs=10, per_device_train_batch_size=32, learning_rate=3e-3,
                         logging_steps=60, eval_strategy="epoch", save_strategy="no", report_to="none",
                         label_names=["labels"], use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=Siamese(), args=args, train_dataset=ds["train"], eval_dataset=ds["test"], compute_metrics=metrics)
trainer.train()
