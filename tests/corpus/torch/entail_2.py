"""Sentence-pair entailment: masked pre-training first, then a classifier on the same encoder."""
import random

import numpy as np
import torch
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

PEOPLE = ["anna", "ben", "carl", "dora"]
MOODS = {"happy": "sad", "tired": "awake", "rich": "poor", "early": "late"}
WORDS = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "is", "not", "and", "seems", "today", *PEOPLE,
         *MOODS, *MOODS.values()]
V = {w: i for i, w in enumerate(WORDS)}
LABELS = ["entailment", "contradiction", "neutral"]


def pair(rng):
    who, other = rng.sample(PEOPLE, 2)
    moods = rng.sample(sorted(MOODS), 2)
    if rng.random() < 0.5:
        fact = {m: rng.random() < 0.5 for m in moods[:1]}
    else:
        fact = {m: rng.random() < 0.5 for m in moods}
    said = " and ".join(m if up else MOODS[m] for m, up in fact.items())
    premise = f"{who} {rng.choice(['is', 'seems'])} {said}"
    label = rng.randrange(3)
    known = rng.choice(list(fact))
    true_word, false_word = (known, MOODS[known]) if fact[known] else (MOODS[known], known)
    if label == 2:
        mood = rng.choice([m for m in MOODS if m not in fact])
        hyp = rng.choice([mood, MOODS[mood]])
    else:
        hyp = true_word if label == 0 else false_word
    return premise, f"{who} is {hyp} today", label


def encode(premise, hypothesis, width=14):
    a = [V["[CLS]"], *(V[w] for w in premise.split()), V["[SEP]"]]
    b = [*(V[w] for w in hypothesis.split()), V["[SEP]"]]
    pad = [0] * (width - len(a) - len(b))
    return {"input_ids": a + b + pad, "token_type_ids": [0] * len(a) + [1] * len(b) + pad,
            "attention_mask": [1] * (len(a) + len(b)) + pad}


def mask_batch(rows):
    batch = {k: torch.tensor([r[k] for r in rows]) for k in rows[0] if k != "labels"}
    ids = batch["input_ids"]
    pick = (torch.rand(ids.shape) < 0.2) & (ids > V["[MASK]"])
    batch["labels"] = ids.where(pick, torch.tensor(-100))
    batch["input_ids"] = ids.masked_fill(pick, V["[MASK]"])
    return batch


def arguments(name, epochs, lr):
    return TrainingArguments(f"out/{name}", num_train_epochs=epochs,
                             per_device_train_batch_size=32, per_device_eval_batch_size=200,
                             learning_rate=lr, warmup_ratio=0.1, logging_strategy="epoch",
                             save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)


def main():
    set_seed(44)
    rng = random.Random(44)
    rows = [{**encode(p, h), "labels": y} for p, h, y in (pair(rng) for _ in range(2600))]
    train, test = rows[:2200], rows[2200:]
    config = BertConfig(vocab_size=len(WORDS), hidden_size=64, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=128, max_position_embeddings=16,
                        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                        initializer_range=0.1, num_labels=3)

    lm = BertForMaskedLM(config)
    Trainer(model=lm, args=arguments("mlm", 8, 2e-3), train_dataset=train,
            data_collator=mask_batch).train()

    clf = BertForSequenceClassification(config)
    result = clf.load_state_dict(lm.state_dict(), strict=False)
    print("not in the checkpoint:", result.missing_keys)
    print("left over:", result.unexpected_keys)
    clf.bert.embeddings.requires_grad_(False)
    trainer = Trainer(model=clf, args=arguments("nli", 10, 1e-3), train_dataset=train,
                      eval_dataset=test, compute_metrics=lambda p: {
                          "accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))})
    trainer.train()
    m = trainer.evaluate()
    share = np.bincount([r["labels"] for r in test]).max() / len(test)
    print(f"majority class {share:.4f}")
    print(f"test loss {m['eval_loss']:.4f}  accuracy {m['eval_accuracy']:.4f}")


if __name__ == "__main__":
    main()
