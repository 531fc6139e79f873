"""Tag support tickets with any number of topics (multi-label)."""
import os
os.environ["USE_TF"] = "0"
import random
import numpy as np
import torch
from sklearn.metrics import f1_score
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(9)
TOPICS = {"billing": ["invoice", "refund", "charge", "card"], "login": ["password", "account", "locked", "code"],
          "shipping": ["parcel", "courier", "late", "address"], "product": ["screen", "battery", "cracked", "noise"],
          "legal": ["terms", "privacy", "contract", "consent"]}
NAMES = list(TOPICS)
FILL = "hello please my the is and i have since with help thanks about again".split()
WORDS = ["<pad>"] + FILL + [w for ws in TOPICS.values() for w in ws]
INDEX = {w: i for i, w in enumerate(WORDS)}
MAXLEN = 24


def make(n, rng):
    items = []
    for _ in range(n):
        topics = rng.sample(NAMES, rng.choice([0, 1, 1, 2, 3]))
        words = rng.choices(FILL, k=rng.randint(6, 10))
        for t in topics:
            words += rng.choices(TOPICS[t], k=2)
        rng.shuffle(words)
        ids = [INDEX[w] for w in words][:MAXLEN]
        items.append({"input_ids": torch.tensor(ids + [0] * (MAXLEN - len(ids))),
                      "labels": torch.tensor([float(t in topics) for t in NAMES])})
    return items


class BagTagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(len(WORDS), 32, mode="sum", padding_idx=0)
        self.mlp = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, len(NAMES)))

    def forward(self, input_ids, labels=None):
        return {"logits": self.mlp(self.emb(input_ids))}


class TagTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.binary_cross_entropy_with_logits(outputs["logits"], labels)
        return (loss, outputs) if return_outputs else loss


def compute_metrics(pred):
    probs = 1 / (1 + np.exp(-pred.predictions))
    hard = (probs > 0.5).astype(int)
    return {"micro_f1": f1_score(pred.label_ids, hard, average="micro", zero_division=0),
            "exact": float((hard == pred.label_ids).all(1).mean())}


rng = random.Random(3)
args = TrainingArguments("tags_out", num_train_epochs=5, learning_rate=5e-3, per_device_train_batch_size=32,
                         per_device_eval_batch_size=128, eval_strategy="epoch", save_strategy="no", logging_steps=38,
                         label_names=["labels"], report_to="none", use_cpu=True, disable_tqdm=True)
trainer = TagTrainer(model=BagTagger(), args=args, train_dataset=make(1200, rng), eval_dataset=make(300, rng),
                     compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
