"""A word-level language model of kitchen orders; trained on next-word prediction, then asked to write some."""
import math
import random
from dataclasses import dataclass

import torch
from torch import nn

DISHES = {"soup": ["leek", "tomato", "onion"], "pie": ["apple", "cherry", "plum"], "pasta": ["pesto", "ragu", "carbonara"],
          "salad": ["greek", "caesar", "nicoise"], "fish": ["grilled", "poached", "smoked"]}
SIDES = {"soup": "bread", "pie": "cream", "pasta": "parmesan", "salad": "dressing", "fish": "lemon"}
TABLES = ["table1", "table2", "table3", "table4", "table5"]
VOCAB = ["<s>", "with", "and", "for", "."] + TABLES + list(DISHES) + [k for v in DISHES.values() for k in v] + list(SIDES.values())
STOI = {w: i for i, w in enumerate(VOCAB)}


def clause(rng):
    d = rng.choice(list(DISHES))
    return [rng.choice(DISHES[d]), d, "with", SIDES[d]]


def order(rng):
    return clause(rng) + ["and"] + clause(rng) + ["for", rng.choice(TABLES), "."]


def legal(words):
    """first 12 words make up one well-formed order"""
    if len(words) < 12:
        return False
    for k in (0, 5):
        kind, dish, w, side = words[k:k + 4]
        if dish not in DISHES or kind not in DISHES[dish] or w != "with" or SIDES[dish] != side:
            return False
    return words[4] == "and" and words[9] == "for" and words[10] in TABLES and words[11] == "."


@dataclass
class Conf:
    d: int = 64
    heads: int = 4
    layers: int = 2
    block: int = 25
    batch: int = 32
    steps: int = 500
    lr: float = 2e-3


class OrderLM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.tok = nn.Embedding(len(VOCAB), c.d)
        self.pos = nn.Embedding(c.block, c.d)
        layer = nn.TransformerEncoderLayer(c.d, c.heads, 4 * c.d, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, c.layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(c.d)
        self.head = nn.Linear(c.d, len(VOCAB))

    def forward(self, ids):
        T = ids.size(1)
        x = self.tok(ids) + self.pos(torch.arange(T, device=ids.device))
        x = self.body(x)
        return self.head(self.norm(x))

    @torch.no_grad()
    def write(self, n):
        ids = torch.zeros(n, 1, dtype=torch.long)
        for _ in range(12):
            p = self(ids)[:, -1].softmax(-1)
            ids = torch.cat([ids, torch.multinomial(p, 1)], 1)
        return [[VOCAB[i] for i in row[1:].tolist()] for row in ids]


def batch(rng, c):
    rows = []
    for _ in range(c.batch):
        words = ["<s>"] + order(rng) + order(rng) + ["<s>"]
        rows.append([STOI[w] for w in words[:c.block + 1]])
    return torch.tensor(rows)


c = Conf()
rng = random.Random(5)
torch.manual_seed(5)
lm = OrderLM(c)
opt = torch.optim.AdamW(lm.parameters(), lr=c.lr, weight_decay=0.01)
for step in range(1, c.steps + 1):
    ids = batch(rng, c)
    logits = lm(ids[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
    opt.step()
    if step % 50 == 0:
        print(f"step {step:4d}  loss {loss.item():.4f}  perplexity {math.exp(loss.item()):.2f}")

lm.eval()
texts = lm.write(200)
for t in texts[:3]:
    print(" ".join(t))
print("well-formed orders: %.3f" % (sum(map(legal, texts)) / len(texts)))
