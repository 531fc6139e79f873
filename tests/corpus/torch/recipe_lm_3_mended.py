#!/usr/bin/env python
"""Small GPT on toy recipe lines, then a few sampled lines."""
import math
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

SEED = 21
set_seed(SEED)
rng = np.random.default_rng(SEED)

VERBS = {"chop": ["onions", "carrots", "parsley"], "boil": ["rice", "pasta", "eggs"],
         "bake": ["bread", "cake", "apples"], "fry": ["mushrooms", "bacon", "peppers"]}
TOOLS = {"chop": "knife", "boil": "pot", "bake": "oven", "fry": "pan"}
TIMES = {"chop": "quickly", "boil": "ten minutes", "bake": "one hour", "fry": "five minutes"}


def recipe_line():
    parts = []
    for _ in range(rng.integers(1, 4)):
        v = str(rng.choice(list(VERBS)))
        parts.append(f"{v} the {rng.choice(VERBS[v])} with the {TOOLS[v]} for {TIMES[v]}")
    return " then ".join(parts)


lines = [recipe_line() for _ in range(2200)]
vocab = ["<pad>", "<bos>", "<eos>"] + sorted({w for l in lines for w in l.split()})
stoi = {w: i for i, w in enumerate(vocab)}


def encode(line):
    return {"input_ids": [1] + [stoi[w] for w in line.split()] + [2]}


data = Dataset.from_list([encode(l) for l in lines]).train_test_split(test_size=200, seed=SEED)


@dataclass
class LMCollator:
    pad_id: int = 0

    def __call__(self, rows):
        width = max(len(r["input_ids"]) for r in rows)
        ids = torch.full((len(rows), width), self.pad_id)
        for i, r in enumerate(rows):
            ids[i, :len(r["input_ids"])] = torch.tensor(r["input_ids"])
        mask = (ids != self.pad_id).long()
        labels = ids.masked_fill(mask == 0, -100)
        inputs = ids
        return {"input_ids": inputs, "attention_mask": mask, "labels": labels}


model = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocab), n_positions=64, n_embd=64, n_layer=2,
                                   n_head=4, bos_token_id=1, eos_token_id=2, pad_token_id=0))

trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="recipe_"),
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        num_train_epochs=4,
        learning_rate=2e-3,
        warmup_ratio=0.1,
        lr_scheduler_type="cosine",
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=40,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        seed=SEED,
    ),
    train_dataset=data["train"],
    eval_dataset=data["test"],
    data_collator=LMCollator(),
)
trainer.train()
ev = trainer.evaluate()
print(f"eval loss {ev['eval_loss']:.3f}  perplexity {math.exp(ev['eval_loss']):.2f}")

model.eval()
good = 0
known = {tuple(encode(f"{v} the {o} with the {TOOLS[v]} for {TIMES[v]}")["input_ids"][1:-1])
         for v in VERBS for o in VERBS[v]}
for k in range(20):
    out = model.generate(torch.tensor([[1]]), max_new_tokens=40, do_sample=True, top_k=0,
                         attention_mask=torch.ones(1, 1, dtype=torch.long))[0]
    words = [vocab[t] for t in out.tolist() if t > 2]
    steps = " ".join(words).split(" then ")
    good += all(tuple(stoi[w] for w in s.split()) in known for s in steps)
    if k < 4:
        print("  sample:", " ".join(words))
print(f"well-formed samples: {good}/20")
