import tempfile

import numpy as np
import torch
from datasets import load_dataset
from torch import nn
from transformers import (AutoModel, AutoTokenizer, DataCollatorWithPadding,
                          Trainer, TrainingArguments, set_seed)

CHECKPOINT = "assets/distilbert-mini"
set_seed(17)

tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
raw = load_dataset("assets/nli", "3_labels")
raw["train"] = raw["train"].shuffle(seed=17).select(range(1500))


def encode(batch):
    return tokenizer(batch["premise"], batch["hypothesis"], truncation=True, max_length=128)


data = raw.map(encode, batched=True)
data = data.rename_column("label", "labels")


class PairJudge(nn.Module):
    """Encoder with a two-layer head on the mean of the token states."""

    def __init__(self, checkpoint, n_classes, dropout=0.1):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(checkpoint)
        width = self.encoder.config.dim
        self.head = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, n_classes)
        )
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, tokens, mask, labels=None):
        states = self.encoder(input_ids=tokens, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)
        pooled = (states * weights).sum(1) / weights.sum(1)
        logits = self.head(pooled)
        loss = self.criterion(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def accuracy(prediction):
    return {"accuracy": float((np.argmax(prediction.predictions, -1) == prediction.label_ids).mean())}


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    num_train_epochs=2,
    learning_rate=5e-5,
    logging_steps=20,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    seed=17,
)

trainer = Trainer(
    model=PairJudge(CHECKPOINT, n_classes=3),
    args=args,
    train_dataset=data["train"],
    eval_dataset=data["validation_matched"],
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=accuracy,
)
trainer.train()
print(trainer.evaluate())
