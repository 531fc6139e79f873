"""Slot tagging of travel requests with a small RoBERTa; most tokens carry the tag O."""
import argparse
import random
import tempfile

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import f1_score
from torch import nn
from transformers import RobertaConfig, RobertaForTokenClassification, Trainer, TrainingArguments, set_seed

TAGS = ["O", "B-FROM", "B-TO", "B-DAY", "I-DAY", "B-CLASS"]
CITIES = "lisbon oslo cairo lima quito tunis riga delhi sofia accra".split()
DAYS = "monday tuesday wednesday thursday friday".split()
CLASSES = ["economy", "business", "first"]
CHATTER = ("well i was thinking that my sister and her two dogs would really love to see some old friends "
           "again so if you have time").split()


class RequestWriter:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def _day(self):
        if self.rng.random() < 0.5:
            return [("next", "B-DAY"), (self.rng.choice(DAYS), "I-DAY")]
        return [(self.rng.choice(DAYS), "B-DAY")]

    def write(self):
        r = self.rng
        source, target = r.sample(CITIES, 2)
        parts = [[("from", "O"), (source, "B-FROM")], [("to", "O"), (target, "B-TO")]]
        if r.random() < 0.6:
            parts.append([("on", "O")] + self._day())
        if r.random() < 0.3:
            parts.append([(r.choice(CLASSES), "B-CLASS"), ("class", "O")])
        r.shuffle(parts)
        chat = [(w, "O") for w in r.choices(CHATTER, k=r.randint(3, 9))]
        cut = r.randrange(len(chat))
        tokens = chat[:cut] + [t for part in parts for t in part] + chat[cut:]
        return {"tokens": [w for w, _ in tokens], "tags": [t for _, t in tokens]}


class Encoder:
    def __init__(self):
        words = sorted(set(CITIES + DAYS + CLASSES + CHATTER + ["from", "to", "on", "next", "class"]))
        self.ids = {w: i + 4 for i, w in enumerate(words)}
        self.size = len(self.ids) + 4

    def __call__(self, row):
        ids = [0] + [self.ids.get(w, 3) for w in row["tokens"]] + [2]
        return {"input_ids": ids, "labels": [-100] + [TAGS.index(t) for t in row["tags"]] + [-100]}


def pad(rows):
    width = max(len(r["input_ids"]) for r in rows)

    def fill(key, value):
        return torch.tensor([r[key] + [value] * (width - len(r[key])) for r in rows])

    ids = fill("input_ids", 1)
    return {"input_ids": ids, "attention_mask": (ids != 1).long(), "labels": fill("labels", -100)}


class SlotTrainer(Trainer):
    def __init__(self, *args, tag_weights, **kwargs):
        super().__init__(*args, **kwargs)
        self.criterion = nn.CrossEntropyLoss(weight=tag_weights, ignore_index=-100)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.get("labels")
        outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        loss = self.criterion(outputs.logits.view(-1, outputs.logits.size(-1)), labels.view(-1))
        return (loss, outputs) if return_outputs else loss


def slot_scores(p):
    keep = p.label_ids != -100
    truth, guess = p.label_ids[keep], p.predictions.argmax(-1)[keep]
    slots = list(range(1, len(TAGS)))
    return {"slot_f1": f1_score(truth, guess, labels=slots, average="macro", zero_division=0),
            "share_O": float((guess == 0).mean())}


def weights_from(rows):
    counts = np.bincount([t for row in rows["labels"] for t in row if t >= 0], minlength=len(TAGS))
    return torch.tensor(np.sqrt(counts.sum() / (len(TAGS) * counts)), dtype=torch.float)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=13)
    opt = parser.parse_args()
    set_seed(opt.seed)

    writer, encoder = RequestWriter(opt.seed), Encoder()
    rows = Dataset.from_list([writer.write() for _ in range(opt.requests + 300)])
    rows = rows.map(encoder, remove_columns=["tokens", "tags"])
    train, test = rows.select(range(opt.requests)), rows.select(range(opt.requests, opt.requests + 300))

    config = RobertaConfig(vocab_size=encoder.size, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                           intermediate_size=128, max_position_embeddings=66, type_vocab_size=1,
                           initializer_range=0.1, num_labels=len(TAGS))
    trainer = SlotTrainer(
        model=RobertaForTokenClassification(config),
        args=TrainingArguments(
            output_dir=tempfile.mkdtemp(), num_train_epochs=opt.epochs, learning_rate=opt.lr,
            per_device_train_batch_size=16, per_device_eval_batch_size=100, weight_decay=0.01,
            eval_strategy="epoch", save_strategy="no", logging_steps=50, report_to="none", seed=opt.seed),
        train_dataset=train, eval_dataset=test, data_collator=pad, compute_metrics=slot_scores,
        tag_weights=weights_from(train),
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
