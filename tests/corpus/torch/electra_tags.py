"""Entity tagging: MLM pretraining, then a tagger that thaws from the top, on labels with few entities."""
import random
import tempfile

import numpy as np
import torch
from torch import nn
from datasets import Dataset
from transformers import (ElectraConfig, ElectraForMaskedLM, ElectraForTokenClassification, Trainer,
                          TrainerCallback, TrainingArguments, set_seed)

NAMES = [f"name{i}" for i in range(25)]
TOWNS = [f"town{i}" for i in range(25)]
BOTH = [f"both{i}" for i in range(10)]            # a person or a town, as the context has it
FILL = [f"w{i}" for i in range(30)] + ["mr", "in"]
VOCAB = ["[PAD]", "[MASK]", "[CLS]"] + NAMES + TOWNS + BOTH + FILL
ID = {w: i for i, w in enumerate(VOCAB)}
TAGS = ["O", "PER", "LOC"]

def sentence(rng):
    words, tags = [], []
    while len(words) < rng.randint(14, 22):
        u = rng.random()
        if u < 0.04:
            words += ["mr", rng.choice(NAMES + BOTH)]; tags += [0, 1]
        elif u < 0.08:
            words += ["in", rng.choice(TOWNS + BOTH)]; tags += [0, 2]
        else:
            words.append(rng.choice(FILL[:30])); tags.append(0)
    return words, tags

def pieces(batch):
    """Every entity word is cut in two pieces; only the first carries the tag."""
    ids, labels = [], []
    for words, tags in zip(batch["words"], batch["tags"]):
        i, t = [ID["[CLS]"]], [-100]
        for w, g in zip(words, tags):
            i.append(ID[w]); t.append(g)
            if w[-1].isdigit() and not w.startswith("w"):
                i.append(ID["w" + str(int(w.lstrip("abcdefghijklmnopqrstuvwxyz")) % 30)]); t.append(-100)
        ids.append(i); labels.append(t)
    return {"input_ids": ids, "labels": labels}

def pad(rows):
    w = max(len(r["input_ids"]) for r in rows)
    x = torch.tensor([r["input_ids"] + [0] * (w - len(r["input_ids"])) for r in rows])
    y = torch.tensor([r["labels"] + [-100] * (w - len(r["labels"])) for r in rows])
    return {"input_ids": x, "attention_mask": (x > 0).long(), "labels": y}

def pad_mlm(rows):
    b = pad(rows)
    hit = (torch.rand(b["input_ids"].shape) < 0.15) & (b["input_ids"] > 2)
    b["labels"] = b["input_ids"].masked_fill(~hit, -100)
    b["input_ids"] = b["input_ids"].masked_fill(hit, ID["[MASK]"])
    return b

class Thaw(TrainerCallback):
    def on_epoch_begin(self, args, state, control, model=None, **kw):
        done = int(round(state.epoch or 0))
        layers = list(model.electra.encoder.layer)[::-1]
        for layer in layers[:done]:
            layer.requires_grad_(True)
        if done > 2:
            model.electra.requires_grad_(True)
        print(f"epoch {done}: {sum(p.numel() for p in model.parameters() if p.requires_grad)} weights learn")

class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        loss = nn.functional.cross_entropy(out.logits.transpose(1, 2), labels, weight=torch.tensor([0.3, 1.0, 1.0]))
        return (loss, out) if return_outputs else loss

def f1(p):
    keep = p.label_ids != -100
    guess, true = p.predictions.argmax(-1)[keep], p.label_ids[keep]
    res = {"share_O": float((true == 0).mean())}
    for k in (1, 2):
        tp = ((guess == k) & (true == k)).sum()
        res["f1_" + TAGS[k]] = float(2 * tp / max(1, (guess == k).sum() + (true == k).sum()))
    return res

def build(rng, n):
    words, tags = zip(*[sentence(rng) for _ in range(n)])
    return Dataset.from_dict({"words": words, "tags": tags}).map(pieces, batched=True, remove_columns=["words", "tags"])


set_seed(31)
rng = random.Random(31)
common = dict(per_device_train_batch_size=32, report_to=[], save_strategy="no", disable_tqdm=True, logging_steps=50)
cfg = ElectraConfig(vocab_size=len(VOCAB), embedding_size=48, hidden_size=64, num_hidden_layers=3, num_labels=3,
                    num_attention_heads=4, intermediate_size=128, max_position_embeddings=40)
mlm, folder = ElectraForMaskedLM(cfg), tempfile.mkdtemp()
Trainer(mlm, TrainingArguments(folder, num_train_epochs=4, learning_rate=2e-3, **common), data_collator=pad_mlm,
        train_dataset=build(rng, 2000)).train()
mlm.save_pretrained(folder)

tagger = ElectraForTokenClassification.from_pretrained(folder, num_labels=3)
tagger.electra.requires_grad_(False)
args = TrainingArguments(folder, num_train_epochs=10, learning_rate=2e-3, eval_strategy="epoch", **common)
optimizer = torch.optim.AdamW(tagger.parameters(), lr=2e-3)
trainer = WeightedTrainer(tagger, args, train_dataset=build(rng, 2000), eval_dataset=build(rng, 300), data_collator=pad,
                          compute_metrics=f1, optimizers=(optimizer, None), callbacks=[Thaw()])
trainer.train()
print({k: round(v, 3) for k, v in trainer.evaluate().items() if "f1" in k or "share" in k})
