"""A tiny GPT-2 learns to write a sequence backwards after a separator."""
import random

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

PAD, SEP, EOS, FIRST, N_SYMBOLS = 0, 1, 2, 3, 12
LIMIT = 18
set_seed(2)


def sample(rng):
    body = [rng.randrange(FIRST, FIRST + N_SYMBOLS) for _ in range(rng.randint(3, 7))]
    return body + [SEP] + body[::-1] + [EOS]


def unique_sets(n_train, n_test):
    rng, seen, rows = random.Random(2), set(), []
    while len(rows) < n_train + n_test:
        row = sample(rng)
        if tuple(row) not in seen:
            seen.add(tuple(row))
            rows.append({"input_ids": row})
    return rows[:n_train], rows[n_train:]


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.full((len(rows), width), PAD)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for i, r in enumerate(rows):
        ids[i, :len(r["input_ids"])] = torch.tensor(r["input_ids"])
        mask[i, :len(r["input_ids"])] = 1
    labels = ids.clone()
    for i, row in enumerate(ids):
        labels[i, :row.tolist().index(SEP) + 1] = -100
    labels[mask == 0] = -100
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def to_tokens(logits, labels):
    return logits.argmax(dim=-1)


def compute_metrics(pred):
    guess, gold = pred.predictions[:, :-1], pred.label_ids[:, 1:]
    used = gold != -100
    return {"token_accuracy": float((guess == gold)[used].mean()),
            "exact": float(((guess == gold) | ~used).all(axis=1).mean())}


train, test = unique_sets(4000, 400)
model = GPT2LMHeadModel(GPT2Config(
    vocab_size=FIRST + N_SYMBOLS, n_positions=LIMIT, n_embd=64, n_layer=2, n_head=4,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=SEP, eos_token_id=EOS))
args = TrainingArguments(
    output_dir="out",
    num_train_epochs=5,
    per_device_train_batch_size=64,
    per_device_eval_batch_size=200,
    learning_rate=4e-3,
    warmup_ratio=0.1,
    lr_scheduler_type="cosine",
    logging_steps=80,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                  data_collator=collate, compute_metrics=compute_metrics,
                  preprocess_logits_for_metrics=to_tokens)
trainer.train()
out = trainer.evaluate()
print("eval loss %.4f token accuracy %.4f exact %.4f" % (
    out["eval_loss"], out["eval_token_accuracy"], out["eval_exact"]))
