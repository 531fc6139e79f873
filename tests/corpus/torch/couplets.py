import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(8)
torch.manual_seed(8)

SUBJECTS = ["the moon", "a fox", "my love", "the sea", "old king"]
VERBS = ["sings", "sleeps", "wanders", "glows", "waits"]
RHYMES = [("light", "night"), ("day", "away"), ("tree", "free"), ("stone", "alone")]


def couplet():
    a, b = random.choice(RHYMES)
    line = lambda w: f"{random.choice(SUBJECTS)} {random.choice(VERBS)} by {w}"
    return f"{line(a)}, {line(b)}.\n"


text = "".join(couplet() for _ in range(1500))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
split = int(0.9 * len(data))
train_data, val_data = data[:split], data[split:]
BLOCK, MICRO, ACCUM, STEPS, WARMUP = 64, 8, 4, 450, 40


def get_batch(src):
    ix = torch.randint(len(src) - BLOCK - 1, (MICRO,))
    x = torch.stack([src[i:i + BLOCK] for i in ix])
    y = torch.stack([src[i + 1:i + BLOCK + 1] for i in ix])
    return x, y


class TinyLM(nn.Module):
    def __init__(self, vocab, dim=64):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(BLOCK, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        nn.init.normal_(self.tok.weight, std=0.05)
        self.head.weight = self.tok.weight
        self.register_buffer("causal", torch.triu(torch.full((BLOCK, BLOCK), float("-inf")), 1))

    def forward(self, x):
        t = x.size(1)
        h = self.tok(x) + self.pos(torch.arange(t))
        return self.head(self.norm(self.blocks(h, mask=self.causal[:t, :t])))


model = TinyLM(len(chars))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.05)


def lr_at(step):
    if step < WARMUP:
        return (step + 1) / WARMUP
    p = (step - WARMUP) / (STEPS - WARMUP)
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * p))


sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_at)

for step in range(STEPS):
    model.train()
    tokens = ACCUM * MICRO * BLOCK
    total = 0.0
    for _ in range(ACCUM):
        x, y = get_batch(train_data)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum") / tokens
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    opt.zero_grad(set_to_none=True)
    if (step + 1) % 50 == 0:
        model.eval()
        with torch.no_grad():
            val = sum(F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()
                      for x, y in (get_batch(val_data) for _ in range(8))) / 8
        print(f"step {step + 1} train {total:.3f} val {val:.3f} (uniform {math.log(len(chars)):.3f})")
