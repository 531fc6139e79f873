"""Teach a tiny GPT-2 to rewrite spoken dates as ISO dates, then batch-generate the held-out ones.

prompt   "7 march 2016 ="      answer   "2016 - 03 - 07"
"""
import logging

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, get_cosine_schedule_with_warmup

logging.getLogger("transformers").setLevel(logging.ERROR)
torch.manual_seed(2)
torch.set_num_threads(1)

MONTHS = ("january february march april may june july august september october november december").split()
LEADS = ["", "on", "it was on", "she said the", "let us meet on the", "due by", "born", "please book the trip for"]
DAYS = [str(d) for d in range(1, 29)]
PADDED = [f"{d:02d}" for d in range(1, 29)]
YEARS = [str(y) for y in range(1990, 2025)]


def build_tokenizer():
    words = ["<pad>", "<eos>", "=", "-"] + MONTHS + DAYS + YEARS
    words += [p for p in PADDED if p not in words]
    words += sorted({w for lead in LEADS for w in lead.split()})
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<pad>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>",
                                   padding_side="right", model_input_names=["input_ids", "attention_mask"])


def sample(rng):
    d, m, y = int(rng.integers(1, 29)), int(rng.integers(0, 12)), str(rng.choice(YEARS))
    lead = str(rng.choice(LEADS))
    date = f"{d} {MONTHS[m]} {y}" if rng.random() < 0.5 else f"{MONTHS[m]} {d} {y}"
    return f"{lead} {date} =".strip(), f"{y} - {m + 1:02d} - {d:02d}"


rng = np.random.default_rng(0)
pairs = list(dict.fromkeys(sample(rng) for _ in range(3600)))
train, held = pairs[:-200], pairs[-200:]
tok = build_tokenizer()

config = GPT2Config(vocab_size=len(tok), n_positions=40, n_embd=64, n_layer=2, n_head=4,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                    bos_token_id=tok.eos_token_id, eos_token_id=tok.eos_token_id, pad_token_id=tok.pad_token_id)
model = GPT2LMHeadModel(config)


def collate(batch):
    enc = tok([f"{p} {a} <eos>" for p, a in batch], padding=True, return_tensors="pt")
    enc["labels"] = enc["input_ids"].masked_fill(enc["attention_mask"] == 0, -100)
    return enc


EPOCHS = 10
loader = DataLoader(train, batch_size=64, shuffle=True, collate_fn=collate, drop_last=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
schedule = get_cosine_schedule_with_warmup(optimizer, 30, EPOCHS * len(loader))

for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for batch in loader:
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.item()
    if epoch % 3 == 0:
        print(f"epoch {epoch + 1:2d} loss {total / len(loader):.4f}")


@torch.no_grad()
def rewrite(prompts, batch_size=100):
    model.eval()
    answers = []
    for i in range(0, len(prompts), batch_size):
        enc = tok(prompts[i:i + batch_size], padding=True, padding_side="left", return_tensors="pt")
        out = model.generate(**enc, max_new_tokens=6, do_sample=False)
        new = out[:, enc["input_ids"].shape[1]:]
        answers += [t.strip() for t in tok.batch_decode(new, skip_special_tokens=True)]
    return answers


prompts, wanted = zip(*held)
got = rewrite(list(prompts))
exact = np.mean([g == w for g, w in zip(got, wanted)])
year = np.mean([g[:4] == w[:4] for g, w in zip(got, wanted)])
common = max(wanted.count(w) for w in set(wanted)) / len(wanted)
print(f"held-out exact match {exact:.3f}, year right {year:.3f}  (most common answer {common:.3f})")
for p, g in list(zip(prompts, got))[:3]:
    print("  ", p, "->", g)
