import random

import numpy as np
from datasets import Dataset
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments, set_seed)

set_seed(42)
checkpoint = "assets/distilbert-mini"
label_names = ["billing", "shipping", "technical", "account", "feedback"]

topics = {
    "billing": ["the invoice is wrong", "i was charged twice", "my card was declined", "the price on the bill changed"],
    "shipping": ["the parcel is late", "my order never arrived", "the driver left the box outside", "tracking does not move"],
    "technical": ["the app crashes", "the screen stays black", "it will not connect to wifi", "the update failed"],
    "account": ["i can not log in", "i forgot my password", "please change my email", "my profile is locked"],
    "feedback": ["great service", "your shop is wonderful", "i am very happy with it", "thanks to the nice team"],
}
products = ["red lamp", "small clock", "wooden chair", "blue box", "garden gate", "old boat", "white table", "radio"]
openers = ["hello,", "hi there,", "good morning,", "dear support,", ""]
closers = ["please help.", "thank you.", "what should i do?", "i wait for your answer.", "since monday.", ""]


tickets = [
    (" ".join(p for p in (opener, f"this is about the {product}:", body, closer) if p), label)
    for label, name in enumerate(label_names)
    for body in topics[name]
    for product in products
    for opener in openers
    for closer in closers
]
tickets = random.sample(tickets, 1500)
ds = Dataset.from_dict({"text": [t for t, _ in tickets], "label": [l for _, l in tickets]})
ds = ds.train_test_split(test_size=0.2, seed=42)

tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def preprocess_function(examples):
    return tokenizer(examples["text"], truncation=True, max_length=64)


tokenized = ds.map(preprocess_function, batched=True)
data_collator = DataCollatorWithPadding(tokenizer=tokenizer)

model = AutoModelForSequenceClassification.from_pretrained(
    checkpoint,
    num_labels=5,
    id2label=dict(enumerate(label_names)),
    label2id={n: i for i, n in enumerate(label_names)},
)


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    predictions = np.argmax(predictions, axis=1)
    return {"accuracy": float((predictions == labels).mean())}


training_args = TrainingArguments(
    output_dir="tickets_model",
    learning_rate=2e-2,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    num_train_epochs=3,
    weight_decay=0.01,
    eval_strategy="epoch",
    logging_steps=25,
    save_strategy="no",
    report_to="none",
)

trainer = Trainer(
    model=model,
    args=training_args,
    train_dataset=tokenized["train"],
    eval_dataset=tokenized["test"],
    processing_class=tokenizer,
    data_collator=data_collator,
    compute_metrics=compute_metrics,
)
trainer.train()

preds = trainer.predict(tokenized["test"]).predictions.argmax(-1)
print("predicted counts:", dict(zip(label_names, np.bincount(preds, minlength=5).tolist())))
