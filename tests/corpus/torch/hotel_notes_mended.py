# Guest notes -> happy / unhappy. Small hand-made DistilBERT, small noisy data, HF Trainer.
import random
import numpy as np
import torch
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

set_seed(21)
rnd = random.Random(21)

GOOD = "clean quiet friendly sunny lovely spacious tasty helpful cosy bright".split()
BAD = "dirty noisy rude cold broken cramped stale slow smelly dark".split()
FILL = ("the room was a and we had our stay in of it with for two nights breakfast view bed staff pool "
        "lift corner street bath towel key floor garden door").split()
VOCAB = {w: i + 2 for i, w in enumerate(GOOD + BAD + FILL)}   # 0 pad, 1 cls
MAXLEN = 20


def note():
    label = rnd.randint(0, 1)
    mine, other = (GOOD, BAD) if label else (BAD, GOOD)
    words = rnd.choices(FILL, k=rnd.randint(8, 14)) + rnd.choices(mine, k=3) + rnd.choices(other, k=1)
    rnd.shuffle(words)
    if rnd.random() < 0.12:          # guests tick the wrong box now and then
        label = 1 - label
    return " ".join(words), label


def encode(text):
    ids = [1] + [VOCAB[w] for w in text.split()][: MAXLEN - 1]
    mask = [1] * len(ids)
    pad = MAXLEN - len(ids)
    return ids + [0] * pad, mask + [0] * pad


class Notes(torch.utils.data.Dataset):
    def __init__(self, pairs):
        self.items = []
        for text, label in pairs:
            ids, mask = encode(text)
            self.items.append({"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask),
                               "labels": torch.tensor(label)})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def metrics(pred):
    logits, labels = pred
    return {"accuracy": float((np.argmax(logits, -1) == labels).mean())}


notes = [note() for _ in range(1400)]
train_ds = Notes(notes[:900])
valid_ds = Notes(notes[900:])

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(VOCAB) + 2, max_position_embeddings=MAXLEN, dim=64, n_layers=2, n_heads=4,
    hidden_dim=128, dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0, num_labels=2))

args = TrainingArguments(
    output_dir="out", num_train_epochs=14, per_device_train_batch_size=32,
    per_device_eval_batch_size=200, learning_rate=1e-3, weight_decay=0.01, eval_strategy="epoch",
    save_strategy="no", logging_strategy="epoch", report_to=[], disable_tqdm=True, use_cpu=True)

trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=valid_ds,
                  compute_metrics=metrics)
trainer.train()
print("validation accuracy: %.3f" % trainer.evaluate()["eval_accuracy"])
