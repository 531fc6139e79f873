"""Intent classification for a helpdesk: a small BERT from scratch with the HF Trainer."""
import os
import random
import re

os.environ["USE_TF"] = "0"
import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments,
                          set_seed)

MAX_LEN = 20
INTENTS = {
    "refund": ["i want my money back for {o}", "please refund {o}", "can you return the payment of {o}",
               "{o} was charged twice give the amount back"],
    "delivery": ["where is {o}", "{o} has still not arrived", "when will the courier bring {o}",
                 "track the parcel with {o}"],
    "cancel": ["please cancel {o}", "i do not want {o} any more", "stop the purchase of {o}",
               "call off the order of {o}"],
    "broken": ["{o} does not work", "{o} arrived damaged", "there is a crack in {o}",
               "{o} stopped working after a day"],
    "invoice": ["send me the invoice for {o}", "i need a receipt for {o}", "the bill of {o} is missing",
                "which address is on the invoice of {o}"],
    "praise": ["i love {o}", "great service thanks for {o}", "{o} is wonderful", "very happy with {o}"],
}
OBJECTS = ["the lamp", "my new phone", "the blue jacket", "these shoes", "the coffee machine",
           "my order", "the garden chair", "a pair of headphones", "the kitchen scale", "the tablet"]
OPENERS = ["", "hello", "hi there", "good morning", "dear team", "hey", "excuse me"]
CLOSERS = ["", "thank you", "thanks", "please help", "regards", "as soon as possible"]
LABELS = list(INTENTS)


def build(n, seed):
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        lab = rng.randrange(len(LABELS))
        body = rng.choice(INTENTS[LABELS[lab]]).format(o=rng.choice(OBJECTS))
        words = f"{rng.choice(OPENERS)} {body} {rng.choice(CLOSERS)}".split()
        words = [w for w in words if rng.random() > 0.08]
        rows.append({"text": " ".join(words), "label": lab})
    return Dataset.from_list(rows)


def tokenise(s):
    return re.findall(r"[a-z]+", s.lower())


def main():
    set_seed(42)
    train, test = build(960, 1), build(400, 2)
    vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2}
    for row in train:
        for w in tokenise(row["text"]):
            vocab.setdefault(w, len(vocab))

    def encode(row):
        ids = [vocab["[CLS]"]] + [vocab.get(w, 1) for w in tokenise(row["text"])]
        ids = ids[:MAX_LEN]
        pad = MAX_LEN - len(ids)
        return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad}

    train, test = train.map(encode), test.map(encode)
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=MAX_LEN, num_labels=len(LABELS),
        id2label=dict(enumerate(LABELS)), label2id={l: i for i, l in enumerate(LABELS)}))

    def compute_metrics(p):
        pred = np.argmax(p.predictions, axis=-1)
        return {"accuracy": accuracy_score(p.label_ids, pred),
                "macro_f1": f1_score(p.label_ids, pred, average="macro")}

    training_args = TrainingArguments(
        output_dir="out/intents",
        num_train_epochs=6,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=64,
        learning_rate=5e-4,
        warmup_steps=500,
        weight_decay=0.01,
        logging_dir="out/logs",
        logging_steps=30,
        eval_strategy="epoch",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(model=model, args=training_args, train_dataset=train, eval_dataset=test,
                      compute_metrics=compute_metrics)
    trainer.train()
    res = trainer.evaluate()
    majority = max(np.bincount(test["label"])) / len(test)
    print(f"test accuracy {res['eval_accuracy']:.3f} macro f1 {res['eval_macro_f1']:.3f} "
          f"(majority {majority:.3f})")


if __name__ == "__main__":
    main()
