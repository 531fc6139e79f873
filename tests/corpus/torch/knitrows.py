"""Small decoder that writes knitting rows: the right side is given, the wrong side is worked back from it."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(2)
torch.manual_seed(2)
TURN = {"k1": "p1", "k2": "p2", "p1": "k1", "p2": "k2", "yo": "p1tbl", "ssk": "p2tog", "k2tog": "ssp", "sl1": "slwyif"}
STITCH = list(TURN)
VOCAB = ["<row>", "*", ";"] + sorted(set(STITCH) | set(TURN.values()))
IX = {s: i for i, s in enumerate(VOCAB)}
LEN, CTX = 7, 16


def row():
    m = [random.choice(STITCH) for _ in range(LEN)]
    words = ["<row>"] + m + ["*"] + [TURN[s] for s in reversed(m)] + [";"]
    return [IX[w] for w in words]


class Block(nn.Module):
    def __init__(self, d, heads, drop):
        super().__init__()
        self.heads, self.drop = heads, drop
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.Dropout(drop))

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (t.view(B, T, self.heads, D // self.heads).transpose(1, 2) for t in self.qkv(self.ln1(x)).split(D, dim=2))
        a = F.scaled_dot_product_attention(q, k, v, dropout_p=self.drop if self.training else 0.0)
        x = x + self.out(a.transpose(1, 2).reshape(B, T, D))
        return x + self.mlp(self.ln2(x))


class Decoder(nn.Module):
    def __init__(self, vocab, d=64, heads=4, layers=3, drop=0.05):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(CTX, d)
        self.blocks = nn.Sequential(*[Block(d, heads, drop) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocab, bias=False)
        self.head.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=0.05)

    def forward(self, ids, targets=None):
        h = self.tok(ids) * math.sqrt(self.tok.embedding_dim) + self.pos.weight[: ids.size(1)]
        logits = self.head(self.norm(self.blocks(h)))
        if targets is None:
            return logits
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def continue_row(model, prompt, n):
    ids = prompt
    for _ in range(n):
        ids = torch.cat([ids, model(ids)[:, -1].argmax(-1, keepdim=True)], dim=1)
    return ids


train = torch.tensor([row() for _ in range(4000)])
val = torch.tensor([row() for _ in range(200)])
model = Decoder(len(VOCAB))
decay = [p for p in model.parameters() if p.dim() > 1]
plain = [p for p in model.parameters() if p.dim() <= 1]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}], lr=2e-3, betas=(0.9, 0.95))
STEPS, WARM = 500, 40
lr_at = lambda s: min(1.0, (s + 1) / WARM) * (0.1 + 0.45 * (1 + math.cos(math.pi * s / STEPS)))
sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_at)

for step in range(STEPS):
    b = train[torch.randint(0, len(train), (48,))]
    _, loss = model(b[:, :-1], b[:, 1:])
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 100 == 0 or step == STEPS - 1:
        model.eval()
        with torch.no_grad():
            vl = model(val[:, :-1], val[:, 1:])[1].item()
        model.train()
        print(f"step {step} train {loss.item():.3f} val {vl:.3f}")

model.eval()
done = continue_row(model, val[:, : LEN + 2], LEN + 1)
print("whole row right:", (done == val).all(1).float().mean().item(), "stitches right:", (done == val)[:, LEN + 2 :].float().mean().item())
print(" ".join(VOCAB[i] for i in done[0].tolist()))
