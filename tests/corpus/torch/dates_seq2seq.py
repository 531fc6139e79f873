# Rewrite dates ("3 march 1987", "mar 3, 87", ...) to ISO form with a small T5 and Seq2SeqTrainer.
# %%
import datetime as dt
import random
import re

import numpy as np
import torch
from transformers import (Seq2SeqTrainer, Seq2SeqTrainingArguments, T5Config, T5ForConditionalGeneration,
                          set_seed)

set_seed(1)
rnd = random.Random(1)
MONTHS = [dt.date(2000, m, 1) for m in range(1, 13)]
DAYS = [dt.date(2000, 1, d) for d in range(3, 10)]
WORDS = [f(d) for d in MONTHS for f in (lambda d: d.strftime("%B"), lambda d: d.strftime("%b"))]
WORDS = sorted({w.lower() for w in WORDS + [d.strftime("%A") for d in DAYS]})
VOCAB = WORDS + [str(i) for i in range(10)] + [f"{i:02d}" for i in range(100)] + list(" ,-/")
STOI = {c: i + 2 for i, c in enumerate(VOCAB)}        # 0 pad (and decoder start), 1 end
ITOS = {i: c for c, i in STOI.items()}


def encode(s):
    return [STOI[c] for c in re.findall(r"[a-z]+|\d\d|\d|[ ,/-]", s)] + [1]


def decode(ids):
    out = []
    for t in ids:
        if t == 1:
            break
        if t > 1:
            out.append(ITOS.get(int(t), "?"))
    return "".join(out)


# %% data
def sample():
    d = dt.date(1970, 1, 1) + dt.timedelta(days=rnd.randrange(0, 365 * 40))
    style = rnd.randrange(4)
    text = {0: f"{d.day} {d.strftime('%B')} {d.year}", 1: f"{d.strftime('%b')} {d.day}, {d.year}",
            2: f"{d.day}/{d.month}/{d.year}", 3: f"{d.strftime('%A')} {d.day} {d.strftime('%b')} {d.year}"}[style]
    return text.lower(), d.isoformat()


pairs = list({s: t for s, t in (sample() for _ in range(4600))}.items())
rnd.shuffle(pairs)
train_days = {t for _, t in pairs[:3400]}
test_pairs = [p for p in pairs[3400:] if p[1] not in train_days][:250]
train_pairs = pairs[:3400]
rows = lambda ps: [{"input_ids": encode(s), "labels": encode(t)} for s, t in ps]
print(len(train_pairs), "train,", len(test_pairs), "test; e.g.", train_pairs[0])


def collate(batch):
    n = max(len(b["input_ids"]) for b in batch)
    m = max(len(b["labels"]) for b in batch)
    ids = torch.zeros(len(batch), n, dtype=torch.long)
    att = torch.zeros(len(batch), n, dtype=torch.long)
    lab = torch.full((len(batch), m), -100)
    for i, b in enumerate(batch):
        ids[i, :len(b["input_ids"])] = torch.tensor(b["input_ids"])
        att[i, :len(b["input_ids"])] = 1
        lab[i, :len(b["labels"])] = torch.tensor(b["labels"])
    dec = torch.cat([torch.zeros(len(batch), 1, dtype=torch.long), lab[:, :-1].clamp(min=0)], 1)
    return {"input_ids": ids, "attention_mask": att, "labels": lab, "decoder_input_ids": dec}


# %% model
config = T5Config(vocab_size=len(VOCAB) + 2, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_decoder_layers=2,
                  num_heads=4, dropout_rate=0.0, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
                  relative_attention_num_buckets=16, relative_attention_max_distance=32)
model = T5ForConditionalGeneration(config)
model.generation_config.max_new_tokens = 12


def metrics(p):
    pred = [decode(r) for r in np.asarray(p.predictions)]
    gold = [decode(np.where(r == -100, 0, r)) for r in p.label_ids]
    year = np.mean([a[:4] == b[:4] for a, b in zip(pred, gold)])
    return {"exact": float(np.mean([a == b for a, b in zip(pred, gold)])), "year": float(year)}


# %% run
args = Seq2SeqTrainingArguments(
    "out/dates", num_train_epochs=5, per_device_train_batch_size=32, per_device_eval_batch_size=125,
    learning_rate=5e-3, lr_scheduler_type="linear", warmup_steps=40, optim="adamw_torch", group_by_length=True,
    label_smoothing_factor=0.02, predict_with_generate=True, logging_steps=120,
    save_strategy="no", eval_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, seed=1)
trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=rows(train_pairs), eval_dataset=rows(test_pairs),
                         data_collator=collate, compute_metrics=metrics)
first = trainer.evaluate()
trainer.train()
last = trainer.evaluate()
for s, t in test_pairs[:4]:
    ids = torch.tensor([encode(s)])
    print(f"{s!r:32} -> {decode(model.generate(ids)[0].tolist())}   ({t})")
print(f"exact on unseen days: {last['eval_exact']:.3f} (before training {first['eval_exact']:.3f}); "
      f"year right {last['eval_year']:.3f}; loss {first['eval_loss']:.2f} -> {last['eval_loss']:.3f}")
