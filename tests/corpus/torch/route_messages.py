# Route customer messages to one of four desks; afterwards look at how far apart
# the desks lie in the encoder's last layer.
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(31)
rng = np.random.default_rng(31)

DESKS = {
    "billing": ["invoice", "refund", "charge", "card"],
    "delivery": ["parcel", "courier", "late", "address"],
    "returns": ["size", "broken", "exchange", "label"],
    "account": ["password", "login", "email", "delete"],
}
COMMON = ["hello", "please", "my", "is", "the", "help", "with", "order", "thanks", "can", "you", "not"]
words = ["<pad>", "<cls>"] + [w for ws in DESKS.values() for w in ws] + COMMON
stoi = {w: i for i, w in enumerate(words)}


class Messages(Dataset):
    def __init__(self, n, length=16):
        self.rows = []
        names = list(DESKS)
        for _ in range(n):
            desk = int(rng.integers(4))
            other = int(rng.integers(4))
            toks = list(rng.choice(DESKS[names[desk]], 2)) + list(rng.choice(DESKS[names[other]], 1))
            toks += list(rng.choice(COMMON, int(rng.integers(4, 12))))
            rng.shuffle(toks)
            ids = [stoi["<cls>"]] + [stoi[t] for t in toks]
            mask = [1] * len(ids) + [0] * (length - len(ids))
            ids += [stoi["<pad>"]] * (length - len(ids))
            self.rows.append({"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": torch.tensor(desk)})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    preds = np.argmax(logits, axis=-1)
    return {"accuracy": float((preds == labels).mean())}


train_ds, eval_ds = Messages(1500), Messages(300)
config = DistilBertConfig(
    vocab_size=len(words), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
    max_position_embeddings=16, num_labels=4, output_hidden_states=True,
)
model = DistilBertForSequenceClassification(config)
args = TrainingArguments(
    output_dir="out_route_messages", num_train_epochs=5, per_device_train_batch_size=32,
    learning_rate=1e-3, eval_strategy="epoch", save_strategy="no", logging_steps=40,
    report_to="none", use_cpu=True, seed=31,
)
trainer = Trainer(model, args, train_dataset=train_ds, eval_dataset=eval_ds, compute_metrics=compute_metrics)
trainer.train()

model.eval()
batch = {k: torch.stack([r[k] for r in eval_ds.rows]) for k in ("input_ids", "attention_mask", "labels")}
with torch.no_grad():
    cls = model(**batch).hidden_states[-1][:, 0]
centres = torch.stack([cls[batch["labels"] == d].mean(0) for d in range(4)])
print("distance between desks:\n", torch.cdist(centres, centres).numpy().round(2))
