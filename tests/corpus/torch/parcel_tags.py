"""Address tagging with word pieces; only the first piece of a word carries a tag."""
import random
from collections import Counter

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import DistilBertConfig, DistilBertForTokenClassification, Trainer, TrainingArguments, set_seed

TAGS = ["O", "NAME", "STREET", "CITY"]
ROOTS = ["bar", "mel", "tor", "lin", "ves", "kan", "rod", "sul", "pim", "gre"]
SMALL = ["to", "for", "at", "near", "the", "please", "deliver", "door", "leave", "fast", "gate", "by"]
SUFFIX = {"NAME": ["##son", "##ova"], "STREET": ["##weg", "##lane"], "CITY": ["##burg", "##ton"]}
PIECES = ["[PAD]", "[CLS]"] + SMALL + ROOTS + sum(SUFFIX.values(), [])
ID = {p: i for i, p in enumerate(PIECES)}
IGNORE = -100


def note(rng):
    pieces, tags = ["[CLS]"], [IGNORE]
    for _ in range(rng.randint(8, 18)):
        tag = rng.choices(TAGS, weights=[85, 7, 5, 3])[0]
        if tag == "O":
            pieces.append(rng.choice(SMALL))
            tags.append(0)
        else:
            pieces += [rng.choice(ROOTS), rng.choice(SUFFIX[tag])]
            tags += [TAGS.index(tag), IGNORE]
    return {"input_ids": [ID[p] for p in pieces], "labels": tags}


class Notes(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = [note(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    labels = torch.full((len(rows), width), IGNORE)
    for i, r in enumerate(rows):
        n = len(r["input_ids"])
        ids[i, :n] = torch.tensor(r["input_ids"])
        mask[i, :n] = 1
        labels[i, :n] = torch.tensor(r["labels"])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


class WeightedTrainer(Trainer):
    def __init__(self, *a, class_weight=None, **kw):
        super().__init__(*a, **kw)
        self.loss_fn = nn.CrossEntropyLoss(weight=class_weight, ignore_index=IGNORE)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        loss = self.loss_fn(out.logits.flatten(0, 1), inputs["labels"].flatten())
        return (loss, {"loss": loss, "logits": out.logits}) if return_outputs else loss


def metrics(pred):
    guess, gold = pred.predictions.argmax(-1), pred.label_ids
    keep = gold != IGNORE
    guess, gold = guess[keep], gold[keep]
    f1 = []
    for t in range(1, len(TAGS)):
        tp = ((guess == t) & (gold == t)).sum()
        f1.append(2 * tp / max(1, (guess == t).sum() + (gold == t).sum()))
    return {"macro_f1": float(np.mean(f1)), "scored_tokens": int(keep.sum())}


if __name__ == "__main__":
    set_seed(13)
    train, test = Notes(2000, 1), Notes(300, 2)
    counts = Counter(t for r in train.rows for t in r["labels"] if t != IGNORE)
    weight = torch.tensor([counts[t] ** -0.5 for t in range(len(TAGS))])
    weight = weight / weight.mean()
    model = DistilBertForTokenClassification(DistilBertConfig(
        vocab_size=len(PIECES), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
        max_position_embeddings=64, sinusoidal_pos_embds=True, initializer_range=0.1, num_labels=len(TAGS)))
    args = TrainingArguments("out", num_train_epochs=6, per_device_train_batch_size=8,
                             gradient_accumulation_steps=4, learning_rate=3e-3, warmup_ratio=0.1,
                             lr_scheduler_type="cosine", eval_strategy="epoch", save_strategy="no",
                             logging_steps=20, report_to="none", disable_tqdm=True, use_cpu=True)
    trainer = WeightedTrainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                              data_collator=collate, compute_metrics=metrics, class_weight=weight)
    trainer.train()
    print(trainer.evaluate())
