"""One encoder, two heads: mood of a message (3 classes) and subject (4 classes).

The two label sets come from different projects: most rows have only one of the two labels, the other one is -100.
"""
import random

import numpy as np
import torch
from datasets import Dataset
from torch import nn
from transformers import AutoTokenizer, DataCollatorWithPadding, DistilBertModel, Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import ModelOutput

set_seed(30)
MOODS = {0: ["happy", "perfect", "wonderful"], 1: ["sad", "broken", "worst"], 2: ["quiet", "average", "usual"]}
SUBJECTS = {0: ["bread", "soup", "cheese"], 1: ["train", "boat", "lorry"], 2: ["guitar", "drum", "jazz"], 3: ["lamp", "blanket", "door"]}


def row():
    mood, subject = random.randrange(3), random.randrange(4)
    text = random.choice(["the {s} was {m} today .", "i find the {s} {m} .", "{m} , that is my word for the {s} .", "our {s} : {m} again ."])
    text = text.format(s=random.choice(SUBJECTS[subject]), m=random.choice(MOODS[mood]))
    known = random.choices(["mood", "subject", "both"], weights=[45, 45, 10])[0]
    return {
        "text": text,
        "mood": mood if known != "subject" else -100,
        "subject": subject if known != "mood" else -100,
    }


class TwoHeads(nn.Module):
    def __init__(self, checkpoint):
        super().__init__()
        self.encoder = DistilBertModel.from_pretrained(checkpoint)
        width = self.encoder.config.dim
        self.heads = nn.ModuleDict({"mood": nn.Linear(width, 3), "subject": nn.Linear(width, 4)})
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids, attention_mask, mood=None, subject=None):
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1)
        pooled = self.dropout((hidden * mask).sum(1) / mask.sum(1))
        mood_logits, subject_logits = self.heads["mood"](pooled), self.heads["subject"](pooled)
        loss = None
        if mood is not None and subject is not None:
            loss = pooled.new_zeros(())
            for logits, target in ((mood_logits, mood), (subject_logits, subject)):
                n = (target != -100).sum()
                loss = loss + nn.functional.cross_entropy(logits, target, ignore_index=-100, reduction="sum") / n.clamp(min=1)
        return ModelOutput(loss=loss, mood_logits=mood_logits, subject_logits=subject_logits)


tokenizer = AutoTokenizer.from_pretrained("assets/distilbert-mini")


def build(n):
    return Dataset.from_list([row() for _ in range(n)]).map(
        lambda b: tokenizer(b["text"], truncation=True, max_length=48), batched=True, remove_columns=["text"])


def compute_metrics(p):
    result = {}
    for name, logits, truth in zip(("mood", "subject"), p.predictions, p.label_ids):
        known = truth != -100
        result[name] = float((np.argmax(logits[known], -1) == truth[known]).mean())
    return result


args = TrainingArguments(
    output_dir="two-heads",
    label_names=["mood", "subject"],
    learning_rate=1e-4,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=100,
    num_train_epochs=2,
    logging_steps=20,
    save_strategy="no",
    eval_strategy="epoch",
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(
    model=TwoHeads("assets/distilbert-mini"), args=args, train_dataset=build(1600), eval_dataset=build(300),
    data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
