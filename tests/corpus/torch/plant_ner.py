"""Tag plant and place names in short field notes with a tiny BERT."""
import os
os.environ["USE_TF"] = "0"
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

TAGS = ["O", "PLANT", "PLACE"]
PLANTS = ["fern", "clover", "thistle", "sedge", "orchid", "heather", "yarrow", "sorrel"]
PLACES = ["ridge", "meadow", "bog", "quarry", "shore", "dune", "gully", "moor"]
FILLER = "we saw found a the near by on some many old young wet dry today again with and".split()
AMBIGUOUS = ["moss", "bell", "heath"]


def note(rng):
    words, tags = [], []
    for _ in range(rng.randint(2, 5)):
        for _ in range(rng.randint(0, 3)):
            words.append(rng.choice(FILLER))
            tags.append(0)
        if rng.random() < 0.5:
            words += ["growing", rng.choice(PLANTS + AMBIGUOUS)]
            tags += [0, 1]
        else:
            words += ["at", rng.choice(PLACES + AMBIGUOUS)]
            tags += [0, 2]
    return words, tags


class Vocabulary:
    def __init__(self, words):
        self.index = {"[PAD]": 0, "[UNK]": 1}
        for w in sorted(set(words)):
            self.index.setdefault(w, len(self.index))

    def __len__(self):
        return len(self.index)

    def encode(self, words):
        return [self.index.get(w, 1) for w in words]


class Notes(Dataset):
    def __init__(self, n, vocab, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            words, tags = note(rng)
            self.rows.append({"input_ids": vocab.encode(words), "labels": tags})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class PadCollator:
    def __init__(self, pad_id=0, label_pad=-1):
        self.pad_id, self.label_pad = pad_id, label_pad

    def __call__(self, rows):
        width = max(len(r["input_ids"]) for r in rows)
        ids = torch.full((len(rows), width), self.pad_id)
        labels = torch.full((len(rows), width), self.label_pad)
        for i, r in enumerate(rows):
            ids[i, :len(r["input_ids"])] = torch.tensor(r["input_ids"])
            labels[i, :len(r["labels"])] = torch.tensor(r["labels"])
        return {"input_ids": ids, "attention_mask": (ids != self.pad_id).long(), "labels": labels}


def compute_metrics(pred):
    keep = pred.label_ids >= 0
    guess, gold = pred.predictions.argmax(-1)[keep], pred.label_ids[keep]
    entity = gold > 0
    return {"token_acc": float((guess == gold).mean()), "entity_recall": float((guess == gold)[entity].mean())}


def main():
    set_seed(4)
    vocab = Vocabulary(PLANTS + PLACES + FILLER + AMBIGUOUS + ["growing", "at"])
    train, valid = Notes(800, vocab, 1), Notes(200, vocab, 2)
    config = BertConfig(
        vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=40, num_labels=len(TAGS), pad_token_id=0,
    )
    args = TrainingArguments(
        output_dir="out", num_train_epochs=4, per_device_train_batch_size=32,
        learning_rate=3e-3, warmup_ratio=0.1, report_to=[], save_strategy="no",
        logging_steps=25, disable_tqdm=True,
    )
    trainer = Trainer(
        model=BertForTokenClassification(config), args=args, train_dataset=train, eval_dataset=valid,
        data_collator=PadCollator(), compute_metrics=compute_metrics,
    )
    trainer.train()
    result = trainer.evaluate()
    share_o = np.mean([t == 0 for r in valid.rows for t in r["labels"]])
    print(f"eval loss {result['eval_loss']:.3f}  token acc {result['eval_token_acc']:.3f} "
          f"(all-O {share_o:.3f})  entity recall {result['eval_entity_recall']:.3f}")


if __name__ == "__main__":
    main()
