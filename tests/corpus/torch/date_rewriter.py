import random
import tempfile

import numpy as np
import torch
from transformers import (Seq2SeqTrainer, Seq2SeqTrainingArguments, T5Config,
                          T5ForConditionalGeneration, set_seed)

set_seed(2)
rng = random.Random(2)
MONTHS = ("january february march april may june july august september october november december").split()
PIECES = ["<pad>", "</s>", "-", "the", "of", "th", ","] + [f"{n:02d}" for n in range(100)] + MONTHS
ID = {p: i for i, p in enumerate(PIECES)}


def make():
    d, m, y = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1960, 2029)
    day, month, year = f"{d:02d}", MONTHS[m - 1], [str(y)[:2], str(y)[2:]]
    source = rng.choice([[day, month] + year, [month, day, ","] + year, ["the", day, "th", "of", month] + year])
    target = year + ["-", f"{m:02d}", "-", day]
    return {"source": [ID[p] for p in source] + [1], "target": [ID[p] for p in target] + [1]}


class Dates(torch.utils.data.Dataset):
    def __init__(self, n):
        self.rows = [make() for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(r["source"]) for r in rows)
    ids = torch.tensor([r["source"] + [0] * (width - len(r["source"])) for r in rows])
    labels = torch.tensor([r["target"] for r in rows])
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}


def read(row):
    return "".join(PIECES[t] for t in row if t > 1)


def exact(p):
    guess = np.where(p.predictions < 0, 0, p.predictions)
    return {"exact": float(np.mean([read(g) == read(t) for g, t in zip(guess, p.label_ids)]))}


config = T5Config(vocab_size=len(PIECES), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_decoder_layers=2,
                  num_heads=4, dropout_rate=0.0, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)
model = T5ForConditionalGeneration(config)

args = Seq2SeqTrainingArguments(
    output_dir=tempfile.mkdtemp(),
    optim="adafactor",
    learning_rate=5e-3,
    lr_scheduler_type="constant_with_warmup",
    warmup_steps=40,
    per_device_train_batch_size=64,
    per_device_eval_batch_size=200,
    num_train_epochs=10,
    logging_steps=40,
    save_strategy="no",
    remove_unused_columns=False,
    predict_with_generate=True,
    generation_max_length=9,
    report_to="none",
)
trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=Dates(3000), eval_dataset=Dates(200),
                         data_collator=collate, compute_metrics=exact)
trainer.train()
print(trainer.evaluate())
