"""Route help-desk messages to a team with a small BERT trained from scratch."""
import random
import re

import numpy as np
from datasets import Dataset, DatasetDict
from sklearn.metrics import accuracy_score, f1_score
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed)

TEAMS = {
    "billing": ["invoice", "refund", "charged twice", "payment", "receipt"],
    "network": ["wifi", "vpn", "connection drops", "router", "slow internet"],
    "hardware": ["laptop", "screen flickers", "keyboard", "battery", "docking station"],
    "access": ["password", "locked out", "two factor code", "permission", "login"],
    "travel": ["flight", "hotel booking", "train ticket", "visa letter", "per diem"],
    "facilities": ["badge reader", "meeting room", "heating", "parking", "coffee machine"],
}
OPENERS = ["hello", "hi team", "urgent", "good morning", "quick question", "dear all"]
MIDDLES = ["i have an issue with the", "can someone look at my", "since yesterday there is a problem with the",
           "please help with the", "question about the"]
CLOSERS = ["thanks", "please reply soon", "cheers", "it is blocking my work", "regards"]


def messages(n, seed):
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        team = rng.choice(list(TEAMS))
        text = f"{rng.choice(OPENERS)} {rng.choice(MIDDLES)} {rng.choice(TEAMS[team])} {rng.choice(CLOSERS)}"
        if rng.random() < 0.15:
            text = text + " ps " + rng.choice(OPENERS)
        rows.append({"text": text, "team": team})
    return rows


def tokenize(text):
    return re.findall(r"[a-z]+", text.lower())


def build_vocab(texts):
    vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2}
    for t in texts:
        for w in tokenize(t):
            vocab.setdefault(w, len(vocab))
    return vocab


def prepare(split, vocab, max_len=24):
    teams = sorted(TEAMS)
    team2id = {team: i for i, team in enumerate(teams)}

    def encode(row):
        ids = [vocab["[CLS]"]] + [vocab.get(w, 1) for w in tokenize(row["text"])]
        ids = ids[:max_len]
        pad = max_len - len(ids)
        return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad,
                "label": team2id[row["team"]]}

    return split.map(encode, remove_columns=["text", "team"])


def compute_metrics(pred):
    guess = np.argmax(pred.predictions, axis=-1)
    return {"accuracy": accuracy_score(pred.label_ids, guess),
            "macro_f1": f1_score(pred.label_ids, guess, average="macro")}


if __name__ == "__main__":
    set_seed(8)
    raw = DatasetDict(train=Dataset.from_list(messages(1600, 0)), test=Dataset.from_list(messages(400, 1)))
    vocab = build_vocab(raw["train"]["text"])
    data = {name: prepare(split, vocab) for name, split in raw.items()}

    config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=96, max_position_embeddings=32, num_labels=len(TEAMS))
    model = BertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir="out/router", num_train_epochs=5, per_device_train_batch_size=32,
        per_device_eval_batch_size=100, learning_rate=1e-3, weight_decay=0.01, eval_strategy="epoch",
        save_strategy="no", logging_steps=50, report_to="none", disable_tqdm=True, use_cpu=True)
    trainer = Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                      compute_metrics=compute_metrics)
    trainer.train()
    final = trainer.evaluate()
    teams = list(raw["test"]["team"])
    share = max(teams.count(t) for t in TEAMS) / len(teams)
    print(f"test accuracy {final['eval_accuracy']:.3f}, macro F1 {final['eval_macro_f1']:.3f}, "
          f"largest team {share:.3f}")
