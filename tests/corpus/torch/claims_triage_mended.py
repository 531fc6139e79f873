"""Triage of insurance claims: short free text together with numbers of the claim."""
import numpy as np
import torch
import torch.nn as nn
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertModel, Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import SequenceClassifierOutput

NUMERIC = ["amount", "days_open", "prior_claims"]
WORDS = ["<pad>", "<s>"] + ("water leak kitchen roof storm hail car door bumper glass theft bike garage fence "
                            "fire smoke burst pipe minor major neighbour driver parked tree").split()
SEVERE = {"fire", "burst", "major", "storm", "theft"}
LEN = 14


def build(n, seed):
    g = np.random.default_rng(seed)
    data = {k: [] for k in ["input_ids", "attention_mask", "labels"] + NUMERIC}
    for _ in range(n):
        k = int(g.integers(5, LEN - 1))
        ids = [1] + g.integers(2, len(WORDS), size=k).tolist()
        severe = sum(WORDS[i] in SEVERE for i in ids)
        amount, days, prior = g.normal(), g.normal(), g.normal()
        score = 0.8 * (severe - 1.9) + 1.6 * amount + 1.0 * days - 1.3 * prior * (amount > 0)
        data["labels"].append(0 if score < -0.9 else (1 if score < 0.9 else 2))
        data["attention_mask"].append([1] * len(ids) + [0] * (LEN - len(ids)))
        data["input_ids"].append(ids + [0] * (LEN - len(ids)))
        for name, v in zip(NUMERIC, (amount, days, prior)):
            data[name].append(float(v))
    return Dataset.from_dict(data)


class ClaimModel(nn.Module):
    def __init__(self, n_classes=3, numeric=NUMERIC):
        super().__init__()
        self.numeric = list(numeric)
        cfg = DistilBertConfig(vocab_size=len(WORDS), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                               max_position_embeddings=LEN)
        self.encoder = DistilBertModel(cfg)
        self.tab = nn.Sequential(nn.Linear(len(numeric), 32), nn.ReLU(), nn.Linear(32, 32))
        self.head = nn.Sequential(nn.Linear(48 + 32, 64), nn.ReLU(), nn.Linear(64, n_classes))
        self.loss_fn = nn.CrossEntropyLoss()

    def forward(self, input_ids, attention_mask=None, labels=None, **fields):
        h = self.encoder(input_ids, attention_mask=attention_mask).last_hidden_state
        m = attention_mask.unsqueeze(-1).float()
        text = (h * m).sum(1) / m.sum(1)
        blank = text.new_zeros(text.size(0))
        # claims coming in by phone may lack some of the numbers
        cols = torch.stack([fields.get(c, blank) for c in self.numeric], dim=-1).float()
        logits = self.head(torch.cat([text, self.tab(cols)], dim=-1))
        loss = self.loss_fn(logits, labels) if labels is not None else None
        return SequenceClassifierOutput(loss=loss, logits=logits)


def compute_metrics(ev):
    pred = ev.predictions.argmax(-1)
    return {"acc": float((pred == ev.label_ids).mean()),
            "acc_per_class": [round(float((pred[ev.label_ids == c] == c).mean()), 3) for c in range(3)]}


def main():
    set_seed(5)
    args = TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=32,
        per_device_eval_batch_size=200,
        num_train_epochs=6,
        learning_rate=1.5e-3,
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=100,
        remove_unused_columns=False,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(ClaimModel(), args, train_dataset=build(3000, 0), eval_dataset=build(600, 1),
                      compute_metrics=compute_metrics)
    trainer.train()
    print({k: v for k, v in trainer.evaluate().items() if "acc" in k or "loss" in k})


if __name__ == "__main__":
    main()
