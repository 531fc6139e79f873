import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
random.seed(11)

ADJ = "silent golden broken distant electric crimson velvet hollow midnight frozen gentle restless".split()
NOUN = "river mirror summer engine shadow garden window harbor signal winter lantern highway".split()
VERB = "calls falls turns burns sings waits fades moves".split()
PLACE = "tokyo the valley my hometown paris the station nowhere".split(" ")


def make_title():
    pattern = random.randrange(4)
    a, n, v = random.choice(ADJ), random.choice(NOUN), random.choice(VERB)
    n2 = random.choice(NOUN)
    if pattern == 0:
        return f"the {a} {n} {v}"
    if pattern == 1:
        return f"{a} {n} and {n2}"
    if pattern == 2:
        return f"when the {n} {v} again"
    return f"letters from {random.choice(PLACE)} ({n} mix)"


titles = sorted({make_title() for _ in range(5000)})
random.shuffle(titles)
words = sorted({w for t in titles for w in t.split()})
CHARS = ["<pad>", "<s>", "</s>"] + sorted({c for t in titles for c in t})
STOI = {c: i for i, c in enumerate(CHARS)}
MAXLEN = max(len(t) for t in titles) + 2


def encode(title):
    ids = [1] + [STOI[c] for c in title] + [2]
    return ids + [0] * (MAXLEN - len(ids))


data = torch.tensor([encode(t) for t in titles])
train_x, valid_x = data[:-300], data[-300:]


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask):
        h = self.ln1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class TitleLM(nn.Module):
    def __init__(self, vocab, dim=256, layers=2, heads=4):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(MAXLEN, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.ln = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab, bias=False)
        self.out.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=0.02)
        nn.init.normal_(self.pos.weight, std=0.02)

    def forward(self, ids):
        t = ids.size(1)
        mask = torch.triu(torch.full((t, t), float("-inf")), diagonal=1)
        x = self.tok(ids) + self.pos(torch.arange(t))
        for block in self.blocks:
            x = block(x, mask)
        return self.out(self.ln(x))


def nll(model, batch):
    logits = model(batch[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=0)


model = TitleLM(len(CHARS))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01)
for epoch in range(2):
    model.train()
    for i, idx in enumerate(torch.randperm(len(train_x)).split(64)):
        loss = nll(model, train_x[idx])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if i % 10 == 0:
            print(f"epoch {epoch} step {i} loss {loss.item():.3f}")
    model.eval()
    with torch.no_grad():
        v = nll(model, valid_x).item()
    print(f"epoch {epoch} valid loss {v:.3f} ppl {math.exp(v):.2f}")
print(f"uniform baseline ppl {len(CHARS)}  final valid ppl {math.exp(v):.3f}")
