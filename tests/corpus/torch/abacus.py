import math
import random
from contextlib import nullcontext

import torch
from datasets import Dataset
from torch.optim.lr_scheduler import LambdaLR
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(14)
random.seed(14)

DIGITS = "0123456789"
NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
VOCAB = ["<pad>", "<bos>", "=", "<eos>"] + list(DIGITS) + NAMES
IDS = {w: i for i, w in enumerate(VOCAB)}


def problem():
    digits = [random.choice(DIGITS) for _ in range(random.randint(2, 6))]
    question = ["<bos>"] + digits + ["="]
    answer = [NAMES[int(d)] for d in digits] + ["<eos>"]
    return {"question": [IDS[w] for w in question], "answer": [IDS[w] for w in answer]}


def collate(rows):
    width = max(len(r["question"]) + len(r["answer"]) for r in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    labels = torch.full_like(ids, -100)
    for k, r in enumerate(rows):
        q, a = r["question"], r["answer"]
        ids[k, :len(q) + len(a)] = torch.tensor(q + a)
        mask[k, :len(q) + len(a)] = 1
        labels[k, len(q):len(q) + len(a)] = torch.tensor(a)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def buckets(dataset, tokens=512):
    order = list(range(len(dataset)))
    random.shuffle(order)
    order.sort(key=lambda i: len(dataset[i]["question"]) + random.random())
    batches, current = [], []
    for i in order:
        current.append(dataset[i])
        if len(current) * 2 * len(dataset[i]["question"]) >= tokens:
            batches.append(collate(current))
            current = []
    random.shuffle(batches)
    return batches


train = Dataset.from_list([problem() for _ in range(2500)]).to_list()
test = [problem() for _ in range(100)]

model = GPT2LMHeadModel(GPT2Config(vocab_size=len(VOCAB), n_positions=32, n_embd=64, n_layer=2, n_head=4, resid_pdrop=0.0,
                                   embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1, eos_token_id=3, pad_token_id=0))
assert model.lm_head.weight is model.transformer.wte.weight

EPOCHS, ACCUM, PEAK, WARMUP = 16, 2, 3e-3, 40
optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK, betas=(0.9, 0.98), weight_decay=0.01)
total = EPOCHS * len(buckets(train)) // ACCUM
scheduler = LambdaLR(optimizer, lambda s: min((s + 1) / WARMUP, 0.5 * (1 + math.cos(math.pi * min(1.0, s / total)))))
cast = torch.autocast("cuda", dtype=torch.bfloat16) if torch.cuda.is_available() else nullcontext()

micro = 0
for epoch in range(EPOCHS):
    model.train()
    seen = []
    for batch in buckets(train):
        with cast:
            loss = model(**batch).loss
        (loss / ACCUM).backward()
        seen.append(loss.item())
        micro += 1
        if micro % ACCUM == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)
    print(f"epoch {epoch:2d}  loss {sum(seen) / len(seen):.4f}  lr {scheduler.get_last_lr()[0]:.2e}")

model.eval()
right = 0
for row in test:
    prompt = torch.tensor([row["question"]])
    out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=10, do_sample=False)
    right += out[0, prompt.shape[1]:].tolist() == row["answer"]
print(f"answers fully right: {right}/{len(test)}")
