import random
import tempfile

import numpy as np
from datasets import Dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding,
                          Trainer, TrainingArguments, set_seed)

SEED = 23
set_seed(SEED)
rng = random.Random(SEED)
CHECKPOINT = "assets/distilbert-mini"

PEOPLE = "doctor farmer sailor pilot baker engineer librarian captain waiter nurse".split()
PLACES = ["in the forest", "at the market", "in the garden", "in the attic", "in the meadow"]
DAYS = "monday tuesday wednesday thursday friday saturday".split()


def sentence():
    first, second = rng.sample(PEOPLE, 2)
    label = rng.randrange(len(DAYS))
    text = rng.choice([
        f"The {first} is {rng.choice(PLACES)} and leaves on {DAYS[label]}, while the {second} is {rng.choice(PLACES)}.",
        f"While the {second} is {rng.choice(PLACES)}, the {first} leaves on {DAYS[label]}.",
        f"On {DAYS[label]} the {first} travels, but the {second} is {rng.choice(PLACES)}.",
        f"The {second} likes cheese and the {first} travels on {DAYS[label]}.",
    ])
    return {"text": text, "label": label}


tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
rows = Dataset.from_list([sentence() for _ in range(2400)])
rows = rows.map(lambda b: tokenizer(b["text"], truncation=True), batched=True, remove_columns=["text"])
rows = rows.train_test_split(test_size=400, seed=SEED)

model = AutoModelForSequenceClassification.from_pretrained(CHECKPOINT, num_labels=len(DAYS))
for p in model.distilbert.embeddings.parameters():
    p.requires_grad = False
print(sum(p.numel() for p in model.parameters() if p.requires_grad), "trainable parameters")

args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    learning_rate=1e-4,
    num_train_epochs=3,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=100,
    warmup_ratio=0.1,
    gradient_checkpointing=True,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=20,
    report_to="none",
    seed=SEED,
)


def metrics(p):
    return {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))}


trainer = Trainer(
    model=model,
    args=args,
    train_dataset=rows["train"],
    eval_dataset=rows["test"],
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=metrics,
)
trainer.train()
print(trainer.evaluate()["eval_accuracy"])
