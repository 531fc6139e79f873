# A small GPT written by hand learns to sort: "4 1 3 1 0 2 | 0 1 1 2 3 4".
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
N, SEP = 6, 6                       # six digits 0..5, and the bar


def get_batch(size):
    x = torch.randint(0, 6, (size, N))
    full = torch.cat([x, torch.full((size, 1), SEP), x.sort(1).values], 1)
    inp, tgt = full[:, :-1], full[:, 1:].clone()
    tgt[:, :N] = -100               # nothing to predict before the bar
    return inp, tgt


class CausalSelfAttention(nn.Module):
    def __init__(self, d, heads, block):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("tril", torch.tril(torch.ones(block, block)).bool())

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(D, dim=2))
        att = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5
        att = att.masked_fill(~self.tril[:T, :T], float("-inf")).softmax(-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, D))


class Block(nn.Module):
    def __init__(self, d, heads, block):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = CausalSelfAttention(d, heads, block)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab=7, d=48, layers=2, heads=3, block=2 * N):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(block, d)
        self.blocks = nn.Sequential(*[Block(d, heads, block) for _ in range(layers)])
        self.ln, self.head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        return self.head(self.ln(self.blocks(x)))


@torch.no_grad()
def evaluate(model, size=500):
    x = torch.randint(0, 6, (size, N))
    seq = torch.cat([x, torch.full((size, 1), SEP)], 1)
    for _ in range(N):
        seq = torch.cat([seq, model(seq)[:, -1:].argmax(-1)], 1)
    return (seq[:, N + 1:] == x.sort(1).values).all(1).float().mean().item()


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(1, 1001):
    inp, tgt = get_batch(64)
    loss = F.cross_entropy(model(inp).flatten(0, 1), tgt.flatten(), ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        print(f"step {step}  loss {loss.item():.4f}  fully sorted {evaluate(model):.3f}")
