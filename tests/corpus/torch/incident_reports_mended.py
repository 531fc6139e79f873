import random
import tempfile
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
from datasets import Dataset
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(29)
LABELS = ["routine", "near_miss", "injury"]
SHARES = [0.90, 0.07, 0.03]
COMMON = ("shift team crane forklift operator platform morning evening load pallet checked moved area floor "
          "gate belt supervisor report noted area cleaned loading dock number tool cart rack line").split()
HINTS = {
    0: "completed inspected refuelled delivered restocked swept".split(),
    1: "almost slipped narrowly avoided braked dangling swerved".split(),
    2: "bruised ambulance bleeding fractured hospital stitches".split(),
}


def write_report(label):
    words = random.choices(COMMON, k=random.randint(8, 16))
    for _ in range(random.randint(1, 2)):
        source = label if random.random() < 0.8 else random.randrange(3)
        words.insert(random.randrange(len(words)), random.choice(HINTS[source]))
    return " ".join(words)


def build(n):
    labels = random.choices(range(3), SHARES, k=n)
    return [{"text": write_report(y), "label": y} for y in labels]


vocab = {"[PAD]": 0, "[CLS]": 1}
for w in COMMON + sum(HINTS.values(), []):
    vocab.setdefault(w, len(vocab))


def encode(row, length=20):
    ids = [1] + [vocab[w] for w in row["text"].split()]
    pad = length - len(ids)
    return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad}


train_rows, eval_rows = build(3200), build(1200)
train_ds = Dataset.from_list(train_rows).map(encode, remove_columns=["text"])
eval_ds = Dataset.from_list(eval_rows).map(encode, remove_columns=["text"])

counts = Counter(r["label"] for r in train_rows)
freq = torch.tensor([counts[i] for i in range(3)], dtype=torch.float)


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weights=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss_fct = nn.CrossEntropyLoss(weight=self.class_weights.to(outputs.logits.device))
        loss = loss_fct(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss


def compute_metrics(p):
    pred = np.argmax(p.predictions, axis=-1)
    out = {"accuracy": accuracy_score(p.label_ids, pred),
           "balanced_accuracy": balanced_accuracy_score(p.label_ids, pred)}
    for name, r in zip(LABELS, recall_score(p.label_ids, pred, average=None, labels=[0, 1, 2])):
        out[f"recall_{name}"] = r
    return out


config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=32, num_labels=3)
args = TrainingArguments(
    output_dir=tempfile.mkdtemp(), num_train_epochs=3, per_device_train_batch_size=32,
    per_device_eval_batch_size=200, learning_rate=1e-3, weight_decay=0.01, warmup_steps=50,
    eval_strategy="epoch", save_strategy="no", logging_steps=100, report_to="none", disable_tqdm=True,
)
trainer = WeightedTrainer(
    model=BertForSequenceClassification(config), args=args, train_dataset=train_ds, eval_dataset=eval_ds,
    compute_metrics=compute_metrics, class_weights=freq.sum() / (3 * freq),
)
trainer.train()
print({k: round(v, 4) for k, v in trainer.evaluate().items() if "acc" in k or "recall" in k or "loss" in k})
