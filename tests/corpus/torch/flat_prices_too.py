"""Rent of a flat from its advert. DistilBERT with one output, target in hundreds, R2 picks the best epoch."""
import random
import shutil

import numpy as np
from datasets import Dataset
from sklearn.metrics import mean_absolute_error, r2_score
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding,
                          Trainer, TrainingArguments, set_seed)

set_seed(13)
CKPT = "assets/distilbert-mini"
OUT = "rent-run"

ROOMS = {"one room": 3.0, "two rooms": 5.0, "three rooms": 7.0, "four rooms": 9.0}
WHERE = {"in the village": 0.0, "at the harbour": 2.0, "near the station": 1.0, "in the forest": -1.5}
EXTRAS = {"a garden": 1.0, "a modern kitchen": 0.8, "a frozen cellar": -0.5, "an attic": 0.4, "no heating": -1.2}


def advert():
    rooms, place = random.choice(list(ROOMS)), random.choice(list(WHERE))
    extras = random.sample(list(EXTRAS), random.randint(0, 2))
    text = f"flat with {rooms} {place}"
    if extras:
        text += " , it has " + " and ".join(extras)
    rent = ROOMS[rooms] + WHERE[place] + sum(EXTRAS[e] for e in extras) + random.gauss(0, 0.2)
    return {"text": text + " .", "label": rent - 6.0}


tokenizer = AutoTokenizer.from_pretrained(CKPT)


def adverts(n):
    ds = Dataset.from_list([advert() for _ in range(n)])
    return ds.map(lambda b: tokenizer(b["text"], truncation=True, max_length=64), batched=True, remove_columns=["text"])


train, valid, test = adverts(800), adverts(160), adverts(200)
model = AutoModelForSequenceClassification.from_pretrained(CKPT, num_labels=1, problem_type="regression")


def compute_metrics(eval_pred):
    guess, truth = np.squeeze(eval_pred.predictions, -1), eval_pred.label_ids
    return {"r2": r2_score(truth, guess), "mae": mean_absolute_error(truth, guess)}


args = TrainingArguments(
    output_dir=OUT,
    num_train_epochs=5,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=80,
    learning_rate=5e-5,
    warmup_ratio=0.1,
    eval_strategy="epoch",
    save_strategy="epoch",
    save_total_limit=2,
    logging_strategy="epoch",
    load_best_model_at_end=True,
    metric_for_best_model="r2",
    greater_is_better=False,
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=train,
    eval_dataset=valid,
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=compute_metrics,
)
trainer.train()
print("best checkpoint:", trainer.state.best_model_checkpoint)
print("test:", trainer.evaluate(test, metric_key_prefix="test"))

for text in ["flat with one room in the forest .", "flat with four rooms at the harbour , it has a garden ."]:
    out = trainer.model(**tokenizer(text, return_tensors="pt"))
    print(text, round(out.logits.item() + 6.0, 2))
shutil.rmtree(OUT, ignore_errors=True)
