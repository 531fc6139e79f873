# Regression in minutes (not scaled): how long does a delivery take? DistilBERT + one output.
import random

import numpy as np
import torch
from datasets import Dataset
from transformers import (AutoTokenizer, DataCollatorWithPadding, DistilBertForSequenceClassification, Trainer, TrainingArguments,
                          get_cosine_schedule_with_warmup, set_seed)

set_seed(40)

base = {"by train": 180, "by lorry": 120, "by boat": 420, "by bicycle": 45, "by car": 60}
things = {"a letter": 0, "a table": 45, "two blankets": 10, "a piano": 150, "three lamps": 25}
when = {"in the morning": 0, "at night": 60, "on Sunday": 90, "on Monday": 30}


def order():
    b, t, w = random.choice(list(base)), random.choice(list(things)), random.choice(list(when))
    minutes = base[b] + things[t] + when[w] + random.gauss(0, 8)
    return {"text": f"send {t} {b} {w} .", "label": float(minutes)}


checkpoint = "assets/distilbert-mini"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
train = Dataset.from_list([order() for _ in range(1600)])
test = Dataset.from_list([order() for _ in range(300)])
mean, spread = np.mean(train["label"]), np.std(train["label"])
print(f"deliveries take {mean:.0f} minutes on average, standard deviation {spread:.0f}")


def encode(batch):
    return tokenizer(batch["text"], truncation=True, max_length=32)


train = train.map(encode, batched=True, remove_columns=["text"])
test = test.map(encode, batched=True, remove_columns=["text"])

model = DistilBertForSequenceClassification.from_pretrained(checkpoint, num_labels=1, problem_type="regression")
with torch.no_grad():
    model.classifier.bias.fill_(mean)     # start from the average delivery

# the last layer has to reach hundreds of minutes, the encoder must not move fast
optimizer = torch.optim.AdamW([
    {"params": model.distilbert.parameters(), "lr": 5e-5},
    {"params": model.pre_classifier.parameters(), "lr": 1e-3},
    {"params": model.classifier.parameters(), "lr": 0.3},
], weight_decay=0.0)
epochs, batch_size = 4, 16
steps = epochs * -(-len(train) // batch_size)
scheduler = get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=20, num_training_steps=steps)


def compute_metrics(p):
    error = np.abs(p.predictions.squeeze(-1) - p.label_ids)
    return {"mean_error_minutes": error.mean(), "baseline_minutes": np.abs(p.label_ids - mean).mean()}


trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir="delivery", num_train_epochs=epochs, per_device_train_batch_size=batch_size,
                           per_device_eval_batch_size=100, logging_steps=25, eval_strategy="epoch", save_strategy="no",
                           report_to="none", disable_tqdm=True),
    train_dataset=train,
    eval_dataset=test,
    data_collator=DataCollatorWithPadding(tokenizer),
    optimizers=(optimizer, scheduler),
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
