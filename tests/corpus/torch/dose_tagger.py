"""Tag drug names and doses in short clinical notes (BERT token classification via Trainer).

Words are split into 3-character pieces; only the first piece of a word carries a label, the rest are -100.
Position embeddings stay fixed (sinusoidal), the rare tags get larger weights in the loss.
"""
import math

import numpy as np
import torch
from torch import nn
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

TAGS = ["O", "B-DRUG", "I-DRUG", "B-DOSE", "I-DOSE"]
STEMS = ["met", "lor", "ami", "cef", "pro", "dox", "val", "ser", "nif", "rab"]
ENDS = ["formin", "olol", "pril", "statin", "azole", "cillin", "sartan", "idone"]
PLAIN = ("patient was given at night after meals for pain started on continue and hold until review "
         "reports no fever cough since the week family doctor ward discharge stable today").split()
UNITS = ["mg", "ml", "tablets", "units"]


def note(rng, drugs):
    words, tags = [], []

    def plain(k):
        words.extend(rng.choice(PLAIN, k))
        tags.extend([0] * k)

    plain(int(rng.integers(2, 6)))
    for _ in range(int(rng.integers(1, 3))):
        words.append(rng.choice(drugs))
        tags.append(1)
        if rng.random() < 0.3:
            words.append(rng.choice(["forte", "retard", "xr"]))
            tags.append(2)
        if rng.random() < 0.7:
            words += [str(rng.choice([5, 10, 20, 25, 50, 100, 250, 500])), rng.choice(UNITS)]
            tags += [3, 4]
        plain(int(rng.integers(1, 5)))
    if rng.random() < 0.5:                       # numbers that are not doses
        words += ["room", str(rng.integers(1, 300))]
        tags += [0, 0]
    return words, tags


def pieces(word):
    return [word[:3]] + ["##" + word[i:i + 3] for i in range(3, len(word), 3)]


class Notes(torch.utils.data.Dataset):
    def __init__(self, notes, vocab):
        self.rows = []
        for words, tags in notes:
            ids, labels = [1], [-100]
            for w, t in zip(words, tags):
                p = pieces(w)
                ids += [vocab.get(x, 2) for x in p]
                labels += [t] + [-100] * (len(p) - 1)
            self.rows.append((ids, labels))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i][0], "labels": self.rows[i][1]}


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    fill = lambda key, v: torch.tensor([r[key] + [v] * (width - len(r[key])) for r in rows])
    ids = fill("input_ids", 0)
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": fill("labels", -100)}


class WeightedTrainer(Trainer):
    tag_weights = torch.tensor([0.4, 1.5, 3.0, 1.5, 1.5])

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        per_token = nn.functional.cross_entropy(out.logits.transpose(1, 2), labels, ignore_index=-100,
                                                weight=self.tag_weights.to(out.logits.device), reduction="sum")
        denom = num_items_in_batch if num_items_in_batch is not None else (labels != -100).sum()
        loss = per_token / denom
        return (loss, out) if return_outputs else loss


def tag_metrics(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    seen = gold != -100
    pred, gold = pred[seen], gold[seen]
    f1 = []
    for k in range(1, len(TAGS)):
        tp = ((pred == k) & (gold == k)).sum()
        f1.append(2 * tp / max((pred == k).sum() + (gold == k).sum(), 1))
    return {"macro_f1": float(np.mean(f1)), "accuracy": float((pred == gold).mean()), "all_O": float((gold == 0).mean())}


def main():
    set_seed(9)
    rng = np.random.default_rng(9)
    names = [a + b for a in STEMS for b in ENDS]
    rng.shuffle(names)
    known, unseen = names[:55], names[55:]        # test notes mention drugs that were never in training
    train_notes = [note(rng, known) for _ in range(900)]
    test_notes = [note(rng, unseen) for _ in range(300)]
    vocab = {"[PAD]": 0, "[CLS]": 1, "[UNK]": 2}
    for words, _ in train_notes:
        for w in words:
            for x in pieces(w):
                vocab.setdefault(x, len(vocab))

    config = BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=128, max_position_embeddings=96, num_labels=len(TAGS))
    model = BertForTokenClassification(config)
    pos = model.bert.embeddings.position_embeddings.weight
    angle = torch.arange(96)[:, None] * torch.exp(torch.arange(0, 64, 2) * (-math.log(1e4) / 64))
    with torch.no_grad():
        pos[:, 0::2], pos[:, 1::2] = 0.02 * angle.sin(), 0.02 * angle.cos()
    pos.requires_grad_(False)

    args = TrainingArguments(output_dir="out/dose_tagger", num_train_epochs=3, per_device_train_batch_size=8,
                             gradient_accumulation_steps=4, per_device_eval_batch_size=100, learning_rate=3e-3,
                             lr_scheduler_type="polynomial", warmup_ratio=0.15, weight_decay=0.05,
                             max_grad_norm=0.5, eval_strategy="epoch", logging_steps=40, save_strategy="no",
                             report_to="none", disable_tqdm=True, seed=9)
    trainer = WeightedTrainer(model=model, args=args, train_dataset=Notes(train_notes, vocab),
                              eval_dataset=Notes(test_notes, vocab), data_collator=collate,
                              compute_metrics=tag_metrics)
    trainer.train()
    m = trainer.evaluate()
    print(f"unseen drugs: macro F1 {m['eval_macro_f1']:.3f}  token accuracy {m['eval_accuracy']:.3f}  "
          f"(all O {m['eval_all_O']:.3f}, F1 0)")


if __name__ == "__main__":
    main()
