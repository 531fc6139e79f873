import copy
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

random.seed(12)
torch.manual_seed(12)

ADJ = "old still cold pale quiet distant broken early".split()
NOUN = "pond frog moon temple snow crow river lantern autumn mountain".split()
VERB = "sleeps leaps fades waits falls sings drifts".split()
PREP = "over under beside into".split()


def poem():
    first = ["the", random.choice(ADJ), random.choice(NOUN), "/"]
    second = ["a", random.choice(NOUN), random.choice(VERB), random.choice(PREP), "the", first[2], "/"]
    third = [first[1], second[1], "at", "dusk", "."]
    return first + second + third


poems = [poem() for _ in range(2600)]
vocab = {w: i for i, w in enumerate(["<s>"] + sorted({w for p in poems for w in p}))}
data = torch.tensor([[0] + [vocab[w] for w in p] for p in poems])
train, valid = data[:2300], data[2300:]


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, dropout=0.1, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim), nn.Dropout(0.1))

    def forward(self, x, mask):
        h = self.n1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class PoemModel(nn.Module):
    def __init__(self, vocab_size, dim=64, heads=4, layers=3, length=20):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, dim)
        self.places = nn.Embedding(length, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab_size, bias=False)
        nn.init.normal_(self.tokens.weight, std=0.02)
        nn.init.normal_(self.places.weight, std=0.02)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        t = ids.size(1)
        mask = torch.triu(torch.ones(t, t, dtype=torch.bool, device=ids.device), 1)
        x = self.tokens(ids) + self.places(torch.arange(t, device=ids.device))
        for block in self.blocks:
            if self.training:
                x = checkpoint(block, x, mask, use_reentrant=False)
            else:
                x = block(x, mask)
        return self.head(self.norm(x))


model = PoemModel(len(vocab))
average = copy.deepcopy(model).eval().requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.95), weight_decay=0.05)
epochs, batch_size = 8, 64
steps = epochs * math.ceil(len(train) / batch_size)
warmup = 40
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: s / warmup if s < warmup else 0.5 * (1 + math.cos(math.pi * (s - warmup) / (steps - warmup)))
)


@torch.no_grad()
def perplexity(net):
    logits = net(valid[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), valid[:, 1:].flatten()).exp().item()


for epoch in range(epochs):
    model.train()
    losses = []
    for rows in torch.randperm(len(train)).split(batch_size):
        batch = train[rows]
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten(), label_smoothing=0.1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        with torch.no_grad():
            for a, p in zip(average.parameters(), model.parameters()):
                a.lerp_(p, 0.03)
        losses.append(loss.item())
    model.eval()
    print(f"epoch {epoch + 1} loss {sum(losses) / len(losses):.3f} ppl {perplexity(model):.2f} averaged ppl {perplexity(average):.2f}")
