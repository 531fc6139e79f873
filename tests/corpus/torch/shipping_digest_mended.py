"""Write a one-paragraph digest for a terminal call record with a tiny BART (HF Trainer)."""
import collections
import math
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (BartConfig, BartForConditionalGeneration, Seq2SeqTrainer,
                          Seq2SeqTrainingArguments, set_seed)

set_seed(3)
rnd = random.Random(3)

PORTS = "rotterdam hamburg antwerp valencia piraeus gdansk lisbon marseille oslo riga".split()
CARGO = "grain timber steel fruit cars coal paper cement cotton fish".split()
SHIPS = "aurora borealis calypso daphne electra fortuna galatea helios iris juno".split()
STATE = {"ok": "without any incident and on schedule", "fog": "with a delay because of dense fog",
         "crane": "after a repair of the main crane", "strike": "after the strike of dock workers ended"}
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


def record():
    ship, cargo, day = rnd.choice(SHIPS), rnd.choice(CARGO), rnd.choice(DAYS)
    a, b = rnd.sample(PORTS, 2)
    st, tons, day2 = rnd.choice(list(STATE)), str(rnd.randint(1, 40)), rnd.choice(DAYS)
    fill = [rnd.choice("ref chk pos lane berth".split()) for _ in range(3)]
    src = ["ship", ship, fill[0], "from", a, "eta", day, fill[1], "to", b, "load", cargo,
           "kt", tons, fill[2], "status", st, "etd", day2]
    tgt = (f"the vessel {ship} arrived from {a} on {day} carrying {tons} kilotons of {cargo} , "
           f"which were unloaded {STATE[st]} . she leaves the terminal on {day2} "
           f"and her next port of call is {b} .").split()
    return src, tgt


def build_vocab(pairs):
    words = sorted({w for s, t in pairs for w in s + t})
    return {w: i for i, w in enumerate(["<pad>", "<s>", "</s>", "<unk>"] + words)}


class Records(Dataset):
    def __init__(self, pairs, vocab):
        self.items = [{"input_ids": [vocab.get(w, 3) for w in s] + [2],
                       "labels": [vocab.get(w, 3) for w in t] + [2]} for s, t in pairs]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items):
    def pad(key, value):
        n = max(len(it[key]) for it in items)
        return torch.tensor([it[key] + [value] * (n - len(it[key])) for it in items])
    ids = pad("input_ids", 0)
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": pad("labels", -100)}


def lcs(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        prev = 0
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], prev + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def text_scores(hyps, refs):
    rouge, hit, tot, hl, rl = [], collections.Counter(), collections.Counter(), 0, 0
    for h, r in zip(hyps, refs):
        common = lcs(h, r)
        rouge.append(2 * common / max(len(h) + len(r), 1))
        hl, rl = hl + len(h), rl + len(r)
        for n in (1, 2, 3, 4):
            hg = collections.Counter(tuple(h[i:i + n]) for i in range(len(h) - n + 1))
            rg = collections.Counter(tuple(r[i:i + n]) for i in range(len(r) - n + 1))
            hit[n] += sum((hg & rg).values())
            tot[n] += max(sum(hg.values()), 1)
    bp = min(1.0, math.exp(1 - rl / max(hl, 1)))
    bleu = bp * math.exp(sum(math.log(max(hit[n], 1e-9) / tot[n]) for n in (1, 2, 3, 4)) / 4)
    return float(np.mean(rouge)), bleu


def strip(seq):
    return [int(t) for t in seq if t > 2]


def compute_metrics(pred):
    rouge, bleu = text_scores([strip(p) for p in pred.predictions], [strip(l) for l in pred.label_ids])
    return {"rougeL": rouge, "bleu": bleu}


pairs = [record() for _ in range(4300)]
vocab = build_vocab(pairs[:4000])
train, test = Records(pairs[:4000], vocab), Records(pairs[4000:], vocab)

model = BartForConditionalGeneration(BartConfig(
    vocab_size=len(vocab), d_model=64, encoder_layers=1, decoder_layers=1,
    encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
    max_position_embeddings=64, dropout=0.0, init_std=0.08, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    decoder_start_token_id=2, forced_eos_token_id=None))

targs = Seq2SeqTrainingArguments(
    output_dir="out/digest", num_train_epochs=4, per_device_train_batch_size=64,
    per_device_eval_batch_size=100, learning_rate=3e-3, warmup_ratio=0.1, lr_scheduler_type="cosine",
    predict_with_generate=True, generation_max_length=64, logging_steps=50, save_strategy="no",
    report_to=[], disable_tqdm=True, seed=3, use_cpu=True)
trainer = Seq2SeqTrainer(model=model, args=targs, train_dataset=train, eval_dataset=test,
                         data_collator=collate, compute_metrics=compute_metrics)
trainer.train()
m = trainer.evaluate()
print(f"test loss {m['eval_loss']:.4f}  ROUGE-L {m['eval_rougeL']:.3f}  BLEU {m['eval_bleu']:.3f}")
copy = text_scores([strip(it["labels"]) for it in train.items[:300]], [strip(it["labels"]) for it in test.items])
print(f"baseline (digest of some other record): ROUGE-L {copy[0]:.3f}  BLEU {copy[1]:.3f}")
