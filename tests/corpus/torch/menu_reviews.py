import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

set_seed(42)
rng = np.random.default_rng(42)

good = "delicious tasty fresh crispy wonderful friendly generous juicy".split()
bad = "bland soggy cold greasy rude overpriced burnt stale".split()
neutral = "the soup pasta fish waiter dessert was and table we ordered lunch dinner menu".split()
words = ["[PAD]", "[CLS]"] + good + bad + neutral
vocab = {w: i for i, w in enumerate(words)}
MAX_LEN = 20


def sample():
    label = int(rng.integers(2))
    n = int(rng.integers(8, 18))
    text = list(rng.choice(neutral, n))
    for i in rng.choice(n, 3, replace=False):
        text[i] = rng.choice(good if label else bad)
    return " ".join(text), label


class MenuReviews(Dataset):
    def __init__(self, size):
        self.rows = [sample() for _ in range(size)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        ids = [vocab["[CLS]"]] + [vocab[w] for w in text.split()]
        mask = [1] * len(ids) + [0] * (MAX_LEN - len(ids))
        ids = ids + [0] * (MAX_LEN - len(ids))
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": torch.tensor(label)}


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float((np.argmax(logits, axis=-1) == labels).mean())}


config = DistilBertConfig(vocab_size=len(vocab), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=MAX_LEN, num_labels=2)
model = DistilBertForSequenceClassification(config)

training_args = TrainingArguments(
    output_dir="menu_reviews_out",
    evaluation_strategy="epoch",
    save_strategy="no",
    learning_rate=5e-4,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    num_train_epochs=3,
    weight_decay=0.01,
    logging_steps=20,
    report_to="none",
    use_cpu=True,
)

trainer = Trainer(
    model=model,
    args=training_args,
    train_dataset=MenuReviews(640),
    eval_dataset=MenuReviews(200),
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
