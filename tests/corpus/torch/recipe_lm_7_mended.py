# %% word-level language model over little generated recipes
import math
import random

import torch
import torch.nn as nn

random.seed(4)
torch.manual_seed(4)

VERB_FOR = {
    "onion": ["chop", "fry", "slice"], "egg": ["beat", "boil", "poach"], "rice": ["rinse", "steam", "boil"],
    "flour": ["sift", "weigh"], "butter": ["melt", "soften"], "carrot": ["peel", "grate", "slice"],
    "garlic": ["crush", "peel"], "milk": ["warm", "pour"], "beans": ["soak", "drain"], "fish": ["bake", "fillet", "salt"],
}
MINUTES = {"fry": "five", "boil": "ten", "steam": "twelve", "poach": "three", "bake": "thirty", "melt": "two", "soak": "ninety", "warm": "four"}
TOOL = {"fry": "pan", "boil": "pot", "steam": "basket", "poach": "pot", "bake": "oven", "melt": "pan", "soak": "bowl", "warm": "pot"}


def recipe():
    things = random.sample(list(VERB_FOR), 3)
    out = ["take"] + [w for t in things for w in (t, "and")][:-1] + ["."]
    for t in things:
        v = random.choice(VERB_FOR[t])
        out += [v, "the", t]
        if random.random() < 0.5:
            out.append("well")
        if v in MINUTES:
            out += ["in", "the", TOOL[v], "for", MINUTES[v], "minutes"]
        out += ["."]
    return out + ["serve", "the", things[0], "on", "the", things[-1], "<end>"]


def corpus(n):
    return [w for _ in range(n) for w in recipe()]


# %% numericalise
train_words, valid_words = corpus(3500), corpus(300)
vocab = {w: i for i, w in enumerate(sorted(set(train_words)))}
train_ids = torch.tensor([vocab[w] for w in train_words])
valid_ids = torch.tensor([vocab[w] for w in valid_words])
CTX, BATCH = 40, 32


def windows(ids, start):
    n = (len(ids) - start - 1) // CTX
    x = ids[start : start + n * CTX].view(n, CTX)
    y = ids[start + 1 : start + 1 + n * CTX].view(n, CTX)
    return x, y


# %% model
class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.n2(x))


class TinyGPT(nn.Module):
    def __init__(self, v, d=64, layers=2, heads=4):
        super().__init__()
        self.tok, self.pos = nn.Embedding(v, d), nn.Embedding(CTX, d)
        self.blocks = nn.Sequential(*[Block(d, heads) for _ in range(layers)])
        self.norm, self.out = nn.LayerNorm(d), nn.Linear(d, v)

    def forward(self, x):
        h = self.tok(x) + self.pos(torch.arange(x.shape[1]))
        return self.out(self.norm(self.blocks(h)))


model = TinyGPT(len(vocab))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.5)
ce = nn.CrossEntropyLoss()


def perplexity(ids):
    model.eval()
    x, y = windows(ids, 0)
    with torch.no_grad():
        return math.exp(ce(model(x).flatten(0, 1), y.flatten()).item())


# %% train
EPOCHS = 8
for epoch in range(EPOCHS):
    model.train()
    x, y = windows(train_ids, random.randrange(CTX))
    total = 0.0
    chunks = torch.randperm(len(x)).split(BATCH)
    for rows in chunks:
        loss = ce(model(x[rows]).flatten(0, 1), y[rows].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    scheduler.step()
    print(f"epoch {epoch}  loss {total / len(chunks):.4f}  valid perplexity {perplexity(valid_ids):.3f}")

# %% sample
back = {i: w for w, i in vocab.items()}
seq = [vocab["take"]]
model.eval()
with torch.no_grad():
    while len(seq) < CTX and back[seq[-1]] != "<end>":
        p = model(torch.tensor([seq]))[0, -1].softmax(-1)
        seq.append(torch.multinomial(p, 1).item())
print(" ".join(back[i] for i in seq))
