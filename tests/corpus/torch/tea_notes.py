import random

import numpy as np
import pandas as pd
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(0)
GOOD = ["floral", "bright", "smooth", "honeyed", "elegant", "fresh"]
BAD = ["dusty", "flat", "harsh", "stale", "musty", "thin"]
PLAIN = ["cup", "leaf", "steeped", "notes", "with", "a", "long", "finish", "and", "aroma"]

records = []
for _ in range(600):
    liked = random.random() < 0.5
    words = random.choices(GOOD if liked else BAD, k=3) + random.choices(PLAIN, k=7)
    random.shuffle(words)
    records.append({"review": " ".join(words), "recommended": int(liked)})
df = pd.DataFrame(records)

vocab = {w: i + 1 for i, w in enumerate(GOOD + BAD + PLAIN)}


def encode(row):
    ids = [vocab[w] for w in row["review"].split()]
    return {"input_ids": ids, "attention_mask": [1] * len(ids)}


ds = Dataset.from_pandas(df).map(encode)
ds = ds.train_test_split(test_size=100, seed=0)

config = DistilBertConfig(vocab_size=len(vocab) + 1, dim=32, hidden_dim=64, n_layers=2, n_heads=2,
                          max_position_embeddings=16, num_labels=2)
model = DistilBertForSequenceClassification(config)

training_args = TrainingArguments(
    output_dir="tea_model",
    learning_rate=1e-3,
    per_device_train_batch_size=20,
    num_train_epochs=4,
    logging_steps=25,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)


def accuracy(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float((np.argmax(logits, axis=1) == labels).mean())}


trainer = Trainer(
    model=model,
    args=training_args,
    train_dataset=ds["train"],
    eval_dataset=ds["test"],
    compute_metrics=accuracy,
)
trainer.train()
print(trainer.evaluate())
