import random
from dataclasses import dataclass

import torch
from torch.utils.data import Dataset
from transformers import BartConfig, BartForConditionalGeneration, Trainer, TrainingArguments, set_seed

set_seed(11)
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
CHARS = list("0123456789-/ abcdefghijklmnopqrstuvwxyz")
PAD, BOS, EOS = 0, 1, 2
C2I = {c: i + 3 for i, c in enumerate(CHARS)}
I2C = {i: c for c, i in C2I.items()}


def encode(s):
    return [C2I[c] for c in s] + [EOS]


def decode(ids):
    out = []
    for i in ids:
        if i == EOS and out:
            break
        if i in I2C:
            out.append(I2C[i])
    return "".join(out)


class DatePairs(Dataset):
    """'7 mar 21' -> '21-03-07'"""

    def __init__(self, n, rng):
        self.rows = []
        for _ in range(n):
            d, m, y = rng.randint(1, 28), rng.randint(1, 12), rng.randint(10, 99)
            self.rows.append((f"{d} {MONTHS[m - 1]} {y}", f"{y}-{m:02d}-{d:02d}"))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        a, b = self.rows[i]
        return {"input_ids": encode(a), "labels": encode(b)}


@dataclass
class PairCollator:
    start: int

    def __call__(self, feats):
        ml = max(len(f["input_ids"]) for f in feats)
        mt = max(len(f["labels"]) for f in feats)
        src = torch.full((len(feats), ml), PAD)
        tgt = torch.full((len(feats), mt), -100)
        dec = torch.full((len(feats), mt), PAD)
        for i, f in enumerate(feats):
            src[i, :len(f["input_ids"])] = torch.tensor(f["input_ids"])
            t = torch.tensor(f["labels"])
            tgt[i, :len(t)] = t
            dec[i, :len(t)] = t
        return {
            "input_ids": src,
            "attention_mask": (src != PAD).long(),
            "decoder_input_ids": dec,
            "labels": tgt,
        }


rng = random.Random(5)
train_set, test_set = DatePairs(5000, rng), DatePairs(200, rng)

cfg = BartConfig(
    vocab_size=len(CHARS) + 3, d_model=64, encoder_layers=1, decoder_layers=1,
    encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
    max_position_embeddings=32, dropout=0.0, pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS,
    decoder_start_token_id=BOS, forced_eos_token_id=None,
)
model = BartForConditionalGeneration(cfg)

args = TrainingArguments(
    output_dir="out", per_device_train_batch_size=64, num_train_epochs=10,
    learning_rate=3e-3, warmup_ratio=0.05, logging_steps=80, save_strategy="no", eval_strategy="epoch",
    report_to=[], use_cpu=True, disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=train_set, eval_dataset=test_set,
                  data_collator=PairCollator(BOS))
trainer.train()

model.eval()
hits = 0
with torch.no_grad():
    for k in range(0, 200, 50):
        feats = [test_set[i] for i in range(k, k + 50)]
        b = PairCollator(BOS)(feats)
        gen = model.generate(input_ids=b["input_ids"], attention_mask=b["attention_mask"],
                             max_new_tokens=12, num_beams=1, do_sample=False)
        for g, i in zip(gen.tolist(), range(k, k + 50)):
            hits += decode(g) == test_set.rows[i][1]
            if i < 3:
                print(test_set.rows[i], "->", decode(g))
print("exact match", hits / 200)
