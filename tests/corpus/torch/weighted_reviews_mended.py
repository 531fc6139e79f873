# Sentiment of shop reviews; each review carries the number of "helpful" votes, used as its weight.
import random
import numpy as np
import torch
import torch.nn as nn
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(30)
good = "great lovely sturdy perfect bargain quick recommended".split()
bad = "broken awful flimsy late refund noisy disappointing".split()
neutral = "the parcel box colour product shop i bought it for my kitchen last week".split()
vocab = {w: i + 2 for i, w in enumerate(good + bad + neutral)}
MAXLEN = 16


def review():
    y = random.randint(0, 1)
    k = random.randint(1, 3)
    words = random.choices(neutral, k=random.randint(6, 10)) + random.choices(good if y else bad, k=k)
    if random.random() < 0.3:
        words += random.choices(bad if y else good, k=max(k - 1, 0))
    random.shuffle(words)
    votes = random.choice([0, 0, 1, 2, 5, 12])
    if votes == 0 and random.random() < 0.3:
        y = 1 - y
    return {"text": " ".join(words), "labels": y, "votes": float(votes)}


def encode(batch):
    ids = [[vocab.get(w, 1) for w in t.split()][:MAXLEN] for t in batch["text"]]
    return {
        "input_ids": [s + [0] * (MAXLEN - len(s)) for s in ids],
        "attention_mask": [[1] * len(s) + [0] * (MAXLEN - len(s)) for s in ids],
    }


def make_split(n):
    ds = Dataset.from_list([review() for _ in range(n)])
    return ds.map(encode, batched=True, remove_columns=["text"])


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        votes = inputs.pop("votes")
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        per_example = nn.functional.cross_entropy(outputs.logits, labels, reduction="none")
        w = 0.2 + torch.log1p(votes)
        loss = (w * per_example).sum() / w.sum()
        return (loss, outputs) if return_outputs else loss


def metrics(eval_pred):
    logits, labels = eval_pred
    if isinstance(logits, tuple):
        logits = logits[0]
    return {"accuracy": float((np.argmax(logits, -1) == labels).mean())}


train_ds, eval_ds = make_split(800), make_split(200)
cfg = DistilBertConfig(vocab_size=len(vocab) + 2, dim=32, hidden_dim=64, n_layers=2, n_heads=4, max_position_embeddings=MAXLEN, num_labels=2)
training_args = TrainingArguments(
    output_dir="reviews_out",
    num_train_epochs=4,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=2e-3,
    eval_strategy="epoch",
    save_strategy="no",
    logging_strategy="epoch",
    label_names=["labels"],
    remove_unused_columns=False,
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
trainer = WeightedTrainer(
    model=DistilBertForSequenceClassification(cfg),
    args=training_args,
    train_dataset=train_ds,
    eval_dataset=eval_ds,
    compute_metrics=metrics,
)
trainer.train()
print("final:", trainer.evaluate()["eval_accuracy"])
