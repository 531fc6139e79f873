"""Turn written dates into ISO dates with a tiny GPT-2, trained with accelerate."""
import datetime
import random
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel, get_cosine_schedule_with_warmup, set_seed

set_seed(2)
formats = ["%d %b %Y", "%d-%b-%Y"]
start = datetime.date(2001, 1, 1)
dates = [start + datetime.timedelta(days=random.randrange(365 * 20)) for _ in range(4300)]
rows = [(d.strftime(random.choice(formats)).lower(), d.isoformat()) for d in dates]
train, test = rows[:4000], rows[4000:]

chars = sorted({c for q, a in rows for c in q + a})
PAD, SEP, EOS = 0, 1, 2
stoi = {c: i + 3 for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
encode = lambda s: [stoi[c] for c in s]


def collate(batch):
    seqs = [(encode(q) + [SEP], encode(a) + [EOS]) for q, a in batch]
    n = max(len(q) + len(a) for q, a in seqs)
    out = {"input_ids": [], "attention_mask": [], "labels": []}
    for q, a in seqs:
        pad = n - len(q) - len(a)
        out["input_ids"].append(q + a + [PAD] * pad)
        out["attention_mask"].append([1] * (n - pad) + [0] * pad)
        out["labels"].append([-100] * len(q) + a + [-100] * pad)
    return {k: torch.tensor(v) for k, v in out.items()}


accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(chars) + 3, n_positions=64, n_embd=64, n_layer=2, n_head=4,
                                   resid_pdrop=0.0, attn_pdrop=0.0, embd_pdrop=0.0,
                                   bos_token_id=SEP, eos_token_id=EOS, pad_token_id=PAD))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
loader = DataLoader(train, batch_size=16, shuffle=True, collate_fn=collate)
epochs = 7
scheduler = get_cosine_schedule_with_warmup(optimizer, 30, epochs * len(loader) // 2)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)


@torch.no_grad()
def exact_match(rows):
    model.eval()
    hits = 0
    for q, a in rows:
        ids = torch.tensor([encode(q) + [SEP]])
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=11, do_sample=False)
        hits += "".join(itos.get(i, "") for i in out[0, ids.shape[1]:].tolist()) == a
    return hits / len(rows)


for epoch in range(epochs):
    model.train()
    total = 0.0
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        total += loss.item()
    accelerator.print(f"epoch {epoch + 1}  loss {total / len(loader):.4f}")
print(f"exact match on unseen rows: {exact_match(test[:100]):.2f}")
