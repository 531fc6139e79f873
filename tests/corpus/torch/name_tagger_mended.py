"""Tag people, places and companies in short news-like sentences (BIO scheme)."""
import random
from dataclasses import dataclass

import numpy as np
import torch
from datasets import Dataset
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "B-ORG", "I-ORG"]
TAG_ID = {t: i for i, t in enumerate(TAGS)}
FIRST = "anna boris clara dmitri elena farid greta hugo ines jonas".split()
LAST = "keller novak ortiz petrov quist rossi santos tanaka ueda vogel".split()
PLACE = "lisbon oslo cairo lima quito hanoi perth dakar turin delft".split()
FIRM = "orbit delta granite cobalt harbor summit vector willow".split()
FORM = "ltd group bank works".split()
GLUE = "said on monday that the deal with may help while a new office opened near old plant after talks".split()


def person():
    return [(random.choice(FIRST), "B-PER")] + ([(random.choice(LAST), "I-PER")] if random.random() < 0.7 else [])


def company():
    return [(random.choice(FIRM), "B-ORG"), (random.choice(FORM), "I-ORG")]


def place():
    return [(random.choice(PLACE), "B-LOC")]


def sentence():
    out = []
    for _ in range(random.randint(1, 4)):
        out += [(w, "O") for w in random.choices(GLUE, k=random.randint(0, 4))]
        out += random.choice([person, company, place])()
    out += [(w, "O") for w in random.choices(GLUE, k=random.randint(0, 3))]
    return {"words": [w for w, _ in out], "tags": [t for _, t in out]}


WORDS = sorted(set(FIRST + LAST + PLACE + FIRM + FORM + GLUE))
SPECIAL = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3}
VOCAB = {**SPECIAL, **{w: i + len(SPECIAL) for i, w in enumerate(WORDS)}}


def tokenize_and_align(example):
    ids = [VOCAB["[CLS]"]] + [VOCAB.get(w, 3) for w in example["words"]] + [VOCAB["[SEP]"]]
    labels = [-100] + [TAG_ID[t] for t in example["tags"]]
    labels = labels + [-100] * (len(ids) - len(labels))
    return {"input_ids": ids, "labels": labels}


@dataclass
class TagCollator:
    pad_id: int = 0

    def __call__(self, feats):
        n = max(len(f["input_ids"]) for f in feats)
        ids = torch.full((len(feats), n), self.pad_id)
        labels = torch.full((len(feats), n), -100)
        for i, f in enumerate(feats):
            ids[i, : len(f["input_ids"])] = torch.tensor(f["input_ids"])
            labels[i, : len(f["labels"])] = torch.tensor(f["labels"])
        return {"input_ids": ids, "attention_mask": (ids != self.pad_id).long(), "labels": labels}


def token_scores(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    keep = gold != -100
    ent = keep & (gold != 0)
    return {"token_acc": float((pred == gold)[keep].mean()), "entity_acc": float((pred == gold)[ent].mean())}


def tag(model, words):
    ids = torch.tensor([[1] + [VOCAB.get(w, 3) for w in words] + [2]])
    with torch.no_grad():
        out = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0].argmax(-1)
    return [TAGS[i] for i in out[1:-1]]


def main():
    set_seed(5)
    data = Dataset.from_list([sentence() for _ in range(1500)])
    data = data.map(tokenize_and_align, remove_columns=data.column_names)
    data = data.train_test_split(test_size=0.2, seed=5)
    model = BertForTokenClassification(BertConfig(
        vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=64, num_labels=len(TAGS)))
    args = TrainingArguments("out", num_train_epochs=4, learning_rate=5e-4,
                             per_device_train_batch_size=16, per_device_eval_batch_size=64,
                             eval_strategy="epoch", save_strategy="no", logging_strategy="epoch",
                             report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model, args, data_collator=TagCollator(), train_dataset=data["train"],
                      eval_dataset=data["test"], compute_metrics=token_scores)
    trainer.train()
    model.eval()
    hits = []
    for _ in range(200):
        s = sentence()
        hits += [a == b for a, b in zip(tag(model, s["words"]), s["tags"])]
    print("tags right on fresh sentences:", round(float(np.mean(hits)), 3))
    for words in ("anna keller said the orbit bank opened near oslo", "talks with hugo on monday"):
        print(list(zip(words.split(), tag(model, words.split()))))


main()
