"""Length of a concert in seconds from its programme. Local DistilBERT with its lower half frozen, upper half at a small rate,
a new head at a large one; the head predicts z-scores and the model turns them into seconds."""
import random

import numpy as np
import torch
from datasets import Dataset
from torch import nn
from transformers import (AutoModel, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments,
                          get_cosine_schedule_with_warmup, set_seed)

CHECKPOINT = "assets/distilbert-mini"
set_seed(10)
random.seed(10)
MINUTES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
WHO = ["the doctor", "the captain", "the nurse", "the baker", "uncle", "the engineer"]


def programme():
    pieces = random.choices(list(MINUTES), k=random.randint(2, 4))
    text = ", ".join(f"{random.choice(WHO)} brings {n} songs" for n in pieces)
    return text, 5400.0 + 60.0 * sum(MINUTES[n] for n in pieces) + random.gauss(0, 20)


rows = [programme() for _ in range(1200)]
tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
data = Dataset.from_dict({"text": [t for t, _ in rows], "labels": [s for _, s in rows]})
data = data.map(lambda b: tokenizer(b["text"], truncation=True, max_length=64), batched=True, remove_columns="text")
data = data.train_test_split(test_size=200, seed=0)
seconds = np.array(data["train"]["labels"])


class Timekeeper(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(CHECKPOINT)
        self.encoder.embeddings.requires_grad_(False)
        for block in self.encoder.transformer.layer[:3]:
            block.requires_grad_(False)
        self.head = nn.Sequential(nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 1))
        self.mean, self.std = float(mean), float(std)

    def forward(self, input_ids, attention_mask, labels=None):
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        keep = attention_mask.unsqueeze(-1).float()
        z = self.head((hidden * keep).sum(1) / keep.sum(1)).squeeze(-1)
        out = {"logits": z * self.std + self.mean}
        if labels is not None:
            out = {"loss": nn.functional.smooth_l1_loss(z, (labels - self.mean) / self.std), **out}
        return out


def metrics(p):
    err = p.predictions - p.label_ids
    return {"mae_seconds": float(np.abs(err).mean()), "r2": float(1 - (err ** 2).mean() / p.label_ids.var())}


model = Timekeeper(seconds.mean(), seconds.std())
epochs, batch = 7, 16
groups = [{"params": [q for q in model.encoder.parameters() if q.requires_grad], "lr": 1e-4},
          {"params": model.head.parameters(), "lr": 3e-3}]
optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
total = epochs * -(-len(data["train"]) // batch)
args = TrainingArguments(output_dir="orchestra", num_train_epochs=epochs, per_device_train_batch_size=batch,
                         per_device_eval_batch_size=64, eval_strategy="epoch", save_strategy="no", logging_steps=60,
                         group_by_length=True, report_to="none", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=metrics,
                  optimizers=(optimizer, get_cosine_schedule_with_warmup(optimizer, 40, total)))
trainer.train()
print(trainer.evaluate())
