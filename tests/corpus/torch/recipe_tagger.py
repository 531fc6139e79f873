"""Tag ingredient lines (QTY / UNIT / FOOD / PREP) with a small DistilBERT.

Words are cut in character chunks; only the first chunk of a word carries a label, the others get -100.
Word chunks use count-based vectors (SVD) that stay fixed.
"""
import os

os.environ["USE_TF"] = "0"

import random

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import (DataCollatorForTokenClassification, DistilBertConfig, DistilBertForTokenClassification,
                          Trainer, TrainingArguments, set_seed)

TAGS = ["O", "QTY", "UNIT", "FOOD", "PREP"]
UNITS = "cup cups tablespoon tablespoons teaspoon pinch grams pound ounces clove cloves can bunch slice slices".split()
FOODS = ("flour sugar butter milk garlic onion tomato basil chicken salt pepper rice lemon orange cream cheese beans "
         "oil vinegar yeast honey parsley ginger carrot potato egg eggs bacon mushroom spinach celery").split()
PREPS = "chopped minced melted sliced diced grated peeled crushed softened toasted ground beaten drained".split()
ADVS = "finely roughly freshly lightly coarsely well".split()
FILL = "of the and for or with about plus to taste if needed some".split()


def line(rnd):
    """Ambiguous on purpose: 'ground pepper' vs 'pepper ground', 'clove' as unit or food, numbers in notes."""
    out = []
    if rnd.random() < 0.85:
        out.append((rnd.choice(["1", "2", "3", "4", "1/2", "1/4", "3/4", "12", "250", "500"]), "QTY"))
        if rnd.random() < 0.75:
            out.append((rnd.choice(UNITS), "UNIT"))
            if rnd.random() < 0.3:
                out.append(("of", "O"))
    if rnd.random() < 0.3:
        if rnd.random() < 0.5:
            out.append((rnd.choice(ADVS), "PREP"))
        out.append((rnd.choice(PREPS), "PREP"))
    out.append((rnd.choice(FOODS + ["clove", "cloves"]), "FOOD"))
    if rnd.random() < 0.25:
        out.append((rnd.choice(FOODS), "FOOD"))
    if rnd.random() < 0.4:
        out.append((rnd.choice(ADVS), "PREP"))
        out.append((rnd.choice(PREPS), "PREP"))
    if rnd.random() < 0.4:
        out += [("for", "O"), ("the", "O"), (rnd.choice(FOODS), "O"), (rnd.choice(["sauce", "crust", "filling"]), "O")]
    if rnd.random() < 0.15:
        out += [("see", "O"), ("step", "O"), (rnd.choice("1234"), "O")]
    return [w for w, _ in out], [TAGS.index(t) for _, t in out]


def chunks(word, size=4):
    return [word[:size]] + ["##" + word[i:i + size] for i in range(size, len(word), size)]


class LineDataset(Dataset):
    def __init__(self, lines, vocab):
        self.rows = []
        for words, tags in lines:
            ids, labels = [2], [-100]
            for word, tag in zip(words, tags):
                pieces = [vocab.get(c, 1) for c in chunks(word)]
                ids += pieces
                labels += [tag] + [-100] * (len(pieces) - 1)
            self.rows.append({"input_ids": ids + [3], "attention_mask": [1] * (len(ids) + 1),
                              "labels": labels + [-100]})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class MiniTokenizer:
    """The little that the collator asks for."""
    padding_side = "right"

    def pad(self, features, return_tensors="pt", **_):
        width = max(len(f["input_ids"]) for f in features)
        batch = {k: [f[k] + [0] * (width - len(f[k])) for f in features] for k in ("input_ids", "attention_mask")}
        return {k: torch.tensor(v) for k, v in batch.items()}


def svd_vectors(rows, size, dim):
    """PPMI over a window of two chunks, then SVD."""
    co = np.zeros((size, size))
    for r in rows:
        for i, a in enumerate(r["input_ids"]):
            for b in r["input_ids"][max(0, i - 2):i]:
                co[a, b] += 1
                co[b, a] += 1
    total, p = co.sum(), co.sum(1, keepdims=True) + 1e-9
    ppmi = np.maximum(np.log((co * total + 1e-9) / (p * p.T)), 0)
    u, s, _ = np.linalg.svd(ppmi)
    v = u[:, :dim] * np.sqrt(s[:dim])
    return torch.tensor(v / v.std(), dtype=torch.float32) * 0.5


def main():
    set_seed(12)
    rnd = random.Random(12)
    unique = {}
    while len(unique) < 2600:
        new = line(rnd)
        unique.setdefault(" ".join(new[0]), new)
    train_lines, test_lines = list(unique.values())[:2000], list(unique.values())[2000:]
    pieces = sorted({c for words, _ in train_lines for w in words for c in chunks(w)})
    vocab = {c: i for i, c in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + pieces)}
    train, test = LineDataset(train_lines, vocab), LineDataset(test_lines, vocab)

    config = DistilBertConfig(vocab_size=len(vocab), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                              max_position_embeddings=64, num_labels=len(TAGS), dropout=0.1)
    model = DistilBertForTokenClassification(config)
    table = model.distilbert.embeddings.word_embeddings
    with torch.no_grad():
        table.weight.copy_(svd_vectors(train.rows, len(vocab), 64))
    table.weight.requires_grad_(False)

    counts = np.bincount([t for _, tags in train_lines for t in tags], minlength=len(TAGS))
    weight = torch.tensor((counts.mean() / counts) ** 0.5, dtype=torch.float32)

    def loss_func(outputs, labels, num_items_in_batch=None):
        total = F.cross_entropy(outputs.logits.flatten(0, 1), labels.flatten(), weight=weight, reduction="sum")
        return total / (num_items_in_batch if num_items_in_batch is not None else (labels != -100).sum())

    def metrics(pred):
        keep = pred.label_ids != -100
        gold, guess = pred.label_ids[keep], pred.predictions.argmax(-1)[keep]
        f1 = [2 * ((gold == c) & (guess == c)).sum() / max((gold == c).sum() + (guess == c).sum(), 1)
              for c in range(1, len(TAGS))]
        exact = [np.array_equal(g[k], p[k]) for g, p, k in zip(pred.label_ids, pred.predictions.argmax(-1), keep)]
        return {"word_acc": float((gold == guess).mean()), "macro_f1": float(np.mean(f1)), "line": float(np.mean(exact))}

    args = TrainingArguments("out/recipe", num_train_epochs=6, per_device_train_batch_size=16,
                             gradient_accumulation_steps=2, per_device_eval_batch_size=100, learning_rate=2e-3,
                             lr_scheduler_type="linear", warmup_steps=20, eval_strategy="epoch", save_strategy="no",
                             logging_strategy="epoch", report_to="none", use_cpu=True, disable_tqdm=True, seed=12)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=metrics,
                      data_collator=DataCollatorForTokenClassification(MiniTokenizer()), compute_loss_func=loss_func)
    trainer.train()
    final = trainer.evaluate()
    print({k: round(v, 3) for k, v in final.items() if k.startswith("eval_") and "per_second" not in k})
    print(f"most frequent tag covers {counts.max() / counts.sum():.3f} of the words")


if __name__ == "__main__":
    main()
