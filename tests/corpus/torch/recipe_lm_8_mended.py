# Character-level language model on generated recipe text, mixed precision.
# Runs in fp16 on a GPU and in bf16 autocast on a CPU; loss scaling is on in both.
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

device = "cuda" if torch.cuda.is_available() else "cpu"
amp_dtype = torch.float16 if device == "cuda" else torch.bfloat16

hp = dict(block=48, batch=24, dim=64, heads=4, layers=2, steps=260, lr=0.25, momentum=0.9, clip=1.0)

FOODS = "onion garlic carrot potato rice lentil tomato pepper cabbage mushroom apple butter".split()
VERBS = ["chop", "slice", "boil", "fry", "bake", "peel", "mix", "rinse"]
UNITS = ["cup", "spoon", "gram", "pinch", "handful"]


def make_corpus(lines, seed):
    rnd = random.Random(seed)
    out = []
    for _ in range(lines):
        a, b = rnd.sample(FOODS, 2)
        kind = rnd.random()
        if kind < 0.4:
            n = rnd.randint(1, 4)
            out.append(f"add {n} {rnd.choice(UNITS)}{'s' if n > 1 else ''} of {a}.")
        elif kind < 0.7:
            out.append(f"{rnd.choice(VERBS)} the {a} and the {b}.")
        else:
            out.append(f"cook the {a} with {b} for {rnd.choice([5, 10, 20])} minutes.")
    return " ".join(out)


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 3 * d), nn.GELU(), nn.Linear(3 * d, d))

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(B, T, 3, self.h, D // self.h).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(B, T, D))
        return x + self.mlp(self.ln2(x))


class CharLM(nn.Module):
    def __init__(self, vocab, d, h, layers, block):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(block, d)
        self.blocks = nn.ModuleList(Block(d, h) for _ in range(layers))
        self.ln, self.head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, x):
        h = self.tok(x) + self.pos(torch.arange(x.shape[1], device=x.device))
        for b in self.blocks:
            h = b(h)
        return self.head(self.ln(h))


def get_batch(data, gen):
    i = torch.randint(0, len(data) - hp["block"] - 1, (hp["batch"],), generator=gen)
    idx = i[:, None] + torch.arange(hp["block"] + 1)
    chunk = data[idx].to(device)
    return chunk[:, :-1], chunk[:, 1:]


@torch.no_grad()
def held_out_loss(model, data, batches=20):
    model.eval()
    gen = torch.Generator().manual_seed(123)
    total = 0.0
    for _ in range(batches):
        x, y = get_batch(data, gen)
        total += F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()
    model.train()
    return total / batches


torch.manual_seed(0)
text = make_corpus(3000, 0)
chars = sorted(set(text))
lookup = {c: i for i, c in enumerate(chars)}
train_ids = torch.tensor([lookup[c] for c in text])
val_ids = torch.tensor([lookup[c] for c in make_corpus(400, 1)])

freq = torch.bincount(train_ids, minlength=len(chars)).float() / len(train_ids)
unigram = -(freq[val_ids].log()).mean().item()

model = CharLM(len(chars), hp["dim"], hp["heads"], hp["layers"], hp["block"]).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=hp["lr"], momentum=hp["momentum"], nesterov=True)
warm = 40
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: min((s + 1) / warm, 0.5 * (1 + math.cos(math.pi * s / hp["steps"]))))
scaler = torch.amp.GradScaler(device)
gen = torch.Generator().manual_seed(1)

for step in range(1, hp["steps"] + 1):
    x, y = get_batch(train_ids, gen)
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(device, dtype=amp_dtype):
        logits = model(x)
        loss = F.cross_entropy(logits.float().flatten(0, 1), y.flatten())
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), hp["clip"])
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
    if step % 65 == 0:
        print(f"step {step:4d}  train {loss.item():.3f}  val {held_out_loss(model, val_ids):.3f}  "
              f"scale {scaler.get_scale():.0f}")

print(f"val nats/char {held_out_loss(model, val_ids):.3f}   unigram {unigram:.3f}   uniform {math.log(len(chars)):.3f}")
