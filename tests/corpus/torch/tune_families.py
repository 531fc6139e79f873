"""Folk tune families: a small encoder learns the notes by filling gaps, then its lower half stays put for the families."""
import random
import torch
from torch import nn
from transformers import (DistilBertConfig, DistilBertForMaskedLM, DistilBertForSequenceClassification,
                          Trainer, TrainingArguments, set_seed)

set_seed(41)
PAD, MASK, CLS, NOTE0 = 0, 1, 2, 3
STEPS = {0: [1, 1, 2], 1: [2, -1, 2], 2: [-1, -2, -1], 3: [3, -1, -1]}
LEN = 20


def tune():
    fam = random.randrange(4)
    note, notes = random.randrange(16), []
    for k in range(LEN):
        notes.append(NOTE0 + note)
        jump = STEPS[fam][k % 3] if random.random() > 0.08 else random.randint(-2, 2)
        note = (note + jump) % 16
    return [CLS] + notes, fam


def gap_collate(feats):
    ids = torch.tensor([f["ids"] for f in feats])
    hide = (torch.rand(ids.shape) < 0.2) & (ids >= NOTE0)
    labels = ids.masked_fill(~hide, -100)
    return {"input_ids": ids.masked_fill(hide, MASK), "attention_mask": torch.ones_like(ids), "labels": labels}


def family_collate(feats):
    ids = torch.tensor([f["ids"] for f in feats])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": torch.tensor([f["family"] for f in feats])}


def arguments(**kw):
    return TrainingArguments(
        output_dir="out", save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
        remove_unused_columns=False, label_names=["labels"], per_device_eval_batch_size=100, **kw)


def dataset(n):
    return [dict(zip(("ids", "family"), tune())) for _ in range(n)]


config = DistilBertConfig(vocab_size=NOTE0 + 16, max_position_embeddings=32, dim=64, hidden_dim=128, n_layers=2,
                          n_heads=4, dropout=0.0, attention_dropout=0.0, pad_token_id=PAD, num_labels=4)

lm = DistilBertForMaskedLM(config)
Trainer(model=lm, data_collator=gap_collate, train_dataset=dataset(4000),
        args=arguments(num_train_epochs=5, learning_rate=2e-3, per_device_train_batch_size=32,
                       warmup_steps=50, logging_steps=125)).train()

clf = DistilBertForSequenceClassification(config)
clf.distilbert.load_state_dict(lm.distilbert.state_dict())
for part in (clf.distilbert.embeddings, clf.distilbert.transformer.layer[0]):
    part.requires_grad_(False)
print("parameters being fitted:", sum(p.numel() for p in clf.parameters() if p.requires_grad))

trainer = Trainer(
    model=clf, data_collator=family_collate, train_dataset=dataset(800), eval_dataset=dataset(400),
    args=arguments(num_train_epochs=8, learning_rate=2e-3, per_device_train_batch_size=4,
                   gradient_accumulation_steps=8, eval_strategy="epoch", logging_steps=25),
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
)
trainer.train()
print("family accuracy", trainer.evaluate()["eval_accuracy"])
