"""Old workshop ledgers: pretrain a small BERT on entries, then sort entries by trade, training biases and head only (BitFit)."""
import os

os.environ["USE_TF"] = "0"
import random

import torch
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, Trainer, TrainingArguments, set_seed)

set_seed(31)
TRADES = {"wheel": "spoke felloe hub rim axle tyre".split(), "body": "plank tailboard shaft panel floor rail".split(),
          "iron": "bolt hoop strap bracket rivet chain".split(), "paint": "varnish primer vermilion lining brush ochre".split()}
VERBS = {"wheel": "trued", "body": "planed", "iron": "forged", "paint": "coated"}
COMMON = "for the miller farmer parish old new mended two four sent by monday in oak ash and again".split()
words = ["[PAD]", "[MASK]", "[CLS]"] + sorted({w for ws in TRADES.values() for w in ws} | set(VERBS.values()) | set(COMMON))
wid = {w: i for i, w in enumerate(words)}
LENGTH = 12


def entry(trade):
    e = random.choices(TRADES[trade], k=5) + [VERBS[trade]] * random.randint(0, 1)
    e += random.choices(COMMON, k=LENGTH - 1 - len(e))
    random.shuffle(e)
    return [wid["[CLS]"]] + [wid[w] for w in e]


def collection(n):
    names = list(TRADES)
    return [{"input_ids": entry(names[k]), "labels": k} for k in (random.randrange(4) for _ in range(n))]


def mask_words(batch):
    ids = torch.tensor([b["input_ids"] for b in batch])
    chosen = (torch.rand(ids.shape) < 0.2) & (ids > 2)
    return {"input_ids": ids.masked_fill(chosen, wid["[MASK]"]), "labels": ids.masked_fill(~chosen, -100)}


def plain(batch):
    return {"input_ids": torch.tensor([b["input_ids"] for b in batch]), "labels": torch.tensor([b["labels"] for b in batch])}


def arguments(epochs, lr, **kw):
    return TrainingArguments("cartwrights_out", num_train_epochs=epochs, learning_rate=lr, per_device_train_batch_size=64,
                             per_device_eval_batch_size=128, logging_strategy="epoch", save_strategy="no", report_to="none",
                             use_cpu=True, disable_tqdm=True, dataloader_pin_memory=False, **kw)


config = BertConfig(vocab_size=len(words), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
                    max_position_embeddings=16, num_labels=4, hidden_dropout_prob=0.0)
lm = BertForMaskedLM(config)
Trainer(model=lm, args=arguments(6, 3e-3), train_dataset=collection(2000), data_collator=mask_words).train()

clf = BertForSequenceClassification(config)
missing = clf.bert.load_state_dict(lm.bert.state_dict(), strict=False).missing_keys
print("fresh:", missing)
for name, weight in clf.named_parameters():
    weight.requires_grad = name.endswith("bias") or "LayerNorm" in name or "pooler" in name or name.startswith("classifier")
tuned = sum(w.numel() for w in clf.parameters() if w.requires_grad)
print(f"tuned: {tuned} of {sum(w.numel() for w in clf.parameters())} weights")

trainer = Trainer(model=clf, args=arguments(3, 5e-3, eval_strategy="epoch"), train_dataset=collection(960),
                  eval_dataset=collection(400), data_collator=plain,
                  compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
trainer.train()
print(trainer.evaluate())
