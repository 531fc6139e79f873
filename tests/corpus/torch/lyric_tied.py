"""Word-level LSTM language model: tied embeddings, micro-batch accumulation, bf16 autocast."""
import contextlib
import math
import os
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
SUBJ = {"river": ["bends", "runs", "sleeps"], "moon": ["rises", "burns", "sleeps"],
        "train": ["whistles", "runs", "bends"], "heart": ["breaks", "burns", "whistles"]}
ADJ = {"river": "silver", "moon": "pale", "train": "rusty", "heart": "tired"}
TIME = ["tonight", "tomorrow", "again", "forever"]
PLACE = {"bends": "around", "runs": "through", "sleeps": "beneath", "rises": "above",
         "burns": "beyond", "whistles": "across", "breaks": "inside"}
SCENE = ["town", "valley", "bridge", "window", "harbour"]


def lyric(rng):
    s = rng.choice(list(SUBJ))
    v = rng.choice(SUBJ[s])
    return ["the", ADJ[s], s, v, PLACE[v], "the", rng.choice(SCENE), rng.choice(TIME), "<nl>"]


def stream(n, seed):
    rng = random.Random(seed)
    return [w for _ in range(n) for w in lyric(rng)]


train_w, valid_w = stream(3000, 1), stream(500, 2)
vocab = {w: i for i, w in enumerate(sorted(set(train_w)))}
encode = lambda ws: torch.tensor([vocab[w] for w in ws])


def batchify(ids, bsz):
    n = len(ids) // bsz
    return ids[:n * bsz].view(bsz, n)


class TiedLM(nn.Module):
    def __init__(self, n_words, dim=48):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim)
        nn.init.normal_(self.emb.weight, std=0.1)
        self.rnn = nn.LSTM(dim, 64, batch_first=True)
        self.proj = nn.Linear(64, dim)
        self.out = nn.Linear(dim, n_words)
        self.out.weight = self.emb.weight
        self.drop = nn.Dropout(0.1)

    def forward(self, x, state=None):
        h, state = self.rnn(self.drop(self.emb(x)), state)
        return self.out(self.proj(self.drop(h))), state


BPTT, ACCUM = 18, 2
train_ids = batchify(encode(train_w), 16)
valid_ids = batchify(encode(valid_w), 8)
model = TiedLM(len(vocab))
print("parameters", sum(p.numel() for p in model.parameters()), "vocab", len(vocab))
decay = [p for p in model.parameters() if p.ndim > 1]
plain = [p for p in model.parameters() if p.ndim <= 1]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01},
                         {"params": plain, "weight_decay": 0.0}], lr=1e-2, betas=(0.9, 0.95))
chunks = list(range(0, train_ids.size(1) - 1, BPTT))
EPOCHS = 8
updates = EPOCHS * math.ceil(len(chunks) / ACCUM)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1e-2, total_steps=updates)


def perplexity(ids):
    model.eval()
    total, n, state = 0.0, 0, None
    with torch.no_grad():
        for i in range(0, ids.size(1) - 1, BPTT):
            x = ids[:, i:i + BPTT][:, :ids.size(1) - 1 - i]
            y = ids[:, i + 1:i + 1 + BPTT]
            logits, state = model(x, state)
            total += F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
            n += y.numel()
    return math.exp(total / n)


for epoch in range(EPOCHS):
    model.train()
    state = None
    opt.zero_grad()
    for k, i in enumerate(chunks):
        x = train_ids[:, i:i + BPTT][:, :train_ids.size(1) - 1 - i]
        y = train_ids[:, i + 1:i + 1 + BPTT]
        ctx = torch.autocast("cpu", dtype=torch.bfloat16) if k % 2 == 0 else contextlib.nullcontext()
        with ctx:
            logits, state = model(x, state)
        state = tuple(s.detach().float() for s in state)
        loss = F.cross_entropy(logits.float().flatten(0, 1), y.flatten()) / ACCUM
        loss.backward()
        if (k + 1) % ACCUM == 0 or k + 1 == len(chunks):
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            opt.zero_grad()
    print(f"epoch {epoch} lr {sched.get_last_lr()[0]:.5f} valid ppl {perplexity(valid_ids):.3f}")

counts = torch.bincount(encode(train_w), minlength=len(vocab)).float()
logp = (counts / counts.sum()).log()
unigram = math.exp(-logp[encode(valid_w)].mean().item())
os.makedirs("out", exist_ok=True)
torch.save(model.state_dict(), "out/lyrics.pt")
print(f"valid perplexity {perplexity(valid_ids):.3f} (unigram {unigram:.2f})")
