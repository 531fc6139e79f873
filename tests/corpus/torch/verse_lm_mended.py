# Small transformer language model over made-up verses, word level.
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)

CHAIN = {
    "<s>": ["the", "a"],
    "the": ["old", "grey", "river", "moon"], "a": ["small", "grey", "bird"],
    "old": ["river", "man"], "grey": ["bird", "moon"], "small": ["bird", "man"],
    "river": ["sleeps", "runs"], "moon": ["sleeps", "climbs"],
    "bird": ["sings", "sleeps"], "man": ["sings", "runs"],
    "sleeps": ["under", "</s>"], "runs": ["over", "under"], "climbs": ["over", "</s>"],
    "sings": ["over", "</s>"], "under": ["the", "a"], "over": ["the", "a"],
    "</s>": ["<s>"],
}
itos = sorted(CHAIN)
stoi = {w: i for i, w in enumerate(itos)}


def stream(n):
    w, out = "<s>", []
    for _ in range(n):
        out.append(stoi[w])
        w = random.choice(CHAIN[w])
    return torch.tensor(out)


BLOCK, BATCH = 32, 24
train_data, val_data = stream(40000), stream(6000)


def get_batch(split):
    src = train_data if split == "train" else val_data
    ix = torch.randint(len(src) - BLOCK - 1, (BATCH,))
    x = torch.stack([src[i:i + BLOCK] for i in ix])
    y = torch.stack([src[i + 1:i + BLOCK + 1] for i in ix])
    return x, y


class VerseLM(nn.Module):
    def __init__(self, vocab, d=64, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Embedding(BLOCK, d)
        layer = nn.TransformerEncoderLayer(d, heads, 4 * d, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, vocab)

    def forward(self, x, y=None):
        t = x.size(1)
        h = self.tok(x) + self.pos(torch.arange(t))
        h = self.norm(self.body(h, mask=nn.Transformer.generate_square_subsequent_mask(t), is_causal=True))
        logits = self.head(h)
        if y is None:
            return logits, None
        return logits, F.cross_entropy(logits.reshape(-1, logits.size(-1)), y.reshape(-1))

    @torch.no_grad()
    def generate(self, n):
        x = torch.tensor([[stoi["<s>"]]])
        for _ in range(n):
            logits, _ = self(x[:, -BLOCK:])
            nxt = torch.multinomial(logits[:, -1].softmax(-1), 1)
            x = torch.cat([x, nxt], 1)
        return x[0].tolist()


model = VerseLM(len(itos))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
steps = 900
for step in range(steps + 1):
    for g in opt.param_groups:
        g["lr"] = 2e-3 * min(1, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * step / (steps + 1)))
    x, y = get_batch("train")
    _, loss = model(x, y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 100 == 0:
        model.eval()
        with torch.no_grad():
            val = sum(model(*get_batch("val"))[1].item() for _ in range(10)) / 10
        model.train()
        print(f"step {step:4d}  train {loss.item():.3f}  val {val:.3f}  ppl {math.exp(val):.2f}")

model.eval()
ids = model.generate(300)
words = [itos[i] for i in ids]
legal = sum(b in CHAIN[a] for a, b in zip(words, words[1:])) / (len(words) - 1)
print(" ".join(words[:60]))
print(f"grammatical transitions in sampled text: {legal:.2%}")
