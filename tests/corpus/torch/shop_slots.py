"""Mark the words of shop orders: quantity, size, thing; everything else is outside. Trainer with own collator."""
import random
import numpy as np
import torch
from transformers import (BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed)

set_seed(31)
TAGS = ["O", "QTY", "SIZE", "THING"]
QTY = "one two three four five".split()
SIZE = "small medium large huge".split()
THING = "lamp chair shelf table rug bowl".split()
TALK = "i would like to have and then also for my mother in law by friday or so if you can one day".split()
VOCAB = {w: i + 2 for i, w in enumerate(sorted(set(QTY + SIZE + THING + TALK)))}


def order():
    words, tags = [], []
    for _ in range(random.randint(4, 14)):
        words.append(random.choice(TALK))
        tags.append(0)
    at = random.randint(0, len(words))
    phrase, ptags = [random.choice(QTY)], [1]
    if random.random() < 0.5:
        phrase.append(random.choice(SIZE))
        ptags.append(2)
    phrase.append(random.choice(THING))
    ptags.append(3)
    return words[:at] + phrase + words[at:], tags[:at] + ptags + tags[at:]


class SlotCollator:
    def __call__(self, batch):
        longest = max(len(b["words"]) for b in batch)
        out = {"input_ids": [], "attention_mask": [], "labels": []}
        for b in batch:
            n, gap = len(b["words"]), longest - len(b["words"])
            out["input_ids"].append([VOCAB.get(w, 1) for w in b["words"]] + [0] * gap)
            out["attention_mask"].append([1] * n + [0] * gap)
            out["labels"].append(b["tags"] + [-100] * gap)
        return {k: torch.tensor(v) for k, v in out.items()}


class SlotTrainer(Trainer):
    weight = torch.tensor([0.3, 1.5, 3.0, 1.5])

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        out = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        loss = torch.nn.functional.cross_entropy(
            out.logits.reshape(-1, len(TAGS)), labels.reshape(-1), weight=self.weight, ignore_index=-100)
        return (loss, {"loss": loss, "logits": out.logits}) if return_outputs else loss


def slot_scores(p):
    pred, y = p.predictions.argmax(-1), p.label_ids
    keep = y != -100
    pred, y = pred[keep], y[keep]
    out = {"token_accuracy": float((pred == y).mean())}
    for k in range(1, len(TAGS)):
        tp = ((pred == k) & (y == k)).sum()
        out["f1_" + TAGS[k]] = float(2 * tp / max(1, (pred == k).sum() + (y == k).sum()))
    return out


def rows(n):
    return [dict(zip(("words", "tags"), order())) for _ in range(n)]


config = BertConfig(vocab_size=len(VOCAB) + 2, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=64, num_labels=len(TAGS), pad_token_id=0)
trainer = SlotTrainer(
    model=BertForTokenClassification(config),
    args=TrainingArguments(
        output_dir="out", num_train_epochs=4, learning_rate=2e-3, warmup_ratio=0.1,
        per_device_train_batch_size=32, per_device_eval_batch_size=100, eval_strategy="epoch",
        save_strategy="no", logging_steps=40, report_to=[], use_cpu=True, disable_tqdm=True,
        remove_unused_columns=False, label_names=["labels"]),
    train_dataset=rows(2000), eval_dataset=rows(400),
    data_collator=SlotCollator(), compute_metrics=slot_scores,
)
trainer.train()
print({k: round(v, 3) for k, v in trainer.evaluate().items()})
