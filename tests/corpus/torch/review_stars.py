"""Predict how many stars a customer gave from the text of the review (1 to 5)."""
import random

import numpy as np
import pandas as pd
from datasets import Dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments, set_seed)

set_seed(7)
rng = random.Random(7)

things = ["tea", "bread", "soup", "lamp", "blanket", "guitar", "coat", "bag", "table", "knife"]
phrases = {
    1: ["is broken and useless", "fell apart on the first day", "is the worst thing i own", "went straight to the bin"],
    2: ["is poor for the money", "is not what i hoped for", "has many faults", "let me down after a week"],
    3: ["is all right", "does its job but no more", "is neither good nor bad", "is average"],
    4: ["is good", "works well and looks nice", "made me happy", "is better than the old one"],
    5: ["is perfect", "is simply wonderful", "is the best i ever had", "is excellent in every way"],
}
openers = ["the", "my new", "this", "our second", "well , the"]
closers = ["", "it came on monday .", "my sister says the same .", "the shop is in the village .", "i paid with a card ."]


def write_review(stars):
    text = f"{rng.choice(openers)} {rng.choice(things)} {rng.choice(phrases[stars])} . {rng.choice(closers)}"
    return text.strip()


# looks like the export of our shop: one row per review
rows = []
for i in range(1500):
    stars = rng.randint(1, 5)
    rows.append({"review_id": i, "review": write_review(stars), "stars": stars})
frame = pd.DataFrame(rows)
print(frame.head())
print(frame["stars"].value_counts().sort_index())

frame["label"] = frame["stars"]
data = Dataset.from_pandas(frame[["review", "label"]]).train_test_split(test_size=300, seed=7)

checkpoint = "assets/distilbert-mini"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
data = data.map(lambda batch: tokenizer(batch["review"], truncation=True, max_length=64), batched=True)

model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=5)


def metrics(eval_pred):
    predicted = eval_pred.predictions.argmax(-1)
    return {
        "accuracy": float((predicted == eval_pred.label_ids).mean()),
        "off_by": float(np.abs(predicted - eval_pred.label_ids).mean()),
    }


args = TrainingArguments(
    output_dir="out_stars",
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    learning_rate=5e-5,
    num_train_epochs=4,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=25,
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=data["train"],
    eval_dataset=data["test"],
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=metrics,
)
trainer.train()
print("final:", trainer.evaluate())
