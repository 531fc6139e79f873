"""A word-level language model on the notes of weaving patterns."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ModelArgs:
    vocab: int = 400
    dim: int = 192
    heads: int = 4
    layers: int = 2
    context: int = 24
    dropout: float = 0.1


class Layer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.heads = a.heads
        self.ln1, self.ln2 = nn.LayerNorm(a.dim), nn.LayerNorm(a.dim)
        self.qkv = nn.Linear(a.dim, 3 * a.dim)
        self.proj = nn.Linear(a.dim, a.dim)
        self.mlp = nn.Sequential(nn.Linear(a.dim, 4 * a.dim), nn.GELU(), nn.Linear(4 * a.dim, a.dim))
        self.drop = nn.Dropout(a.dropout)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.drop(self.proj(y.transpose(1, 2).reshape(b, t, d)))
        return x + self.drop(self.mlp(self.ln2(x)))


class LoomLM(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.tok = nn.Embedding(a.vocab, a.dim)
        self.pos = nn.Parameter(torch.zeros(1, a.context, a.dim))
        self.layers = nn.ModuleList(Layer(a) for _ in range(a.layers))
        self.norm = nn.LayerNorm(a.dim)
        self.head = nn.Linear(a.dim, a.vocab, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        x = self.tok(ids) + self.pos[:, : ids.size(1)]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def notes(n, length, vocab, seed):
    g = torch.Generator().manual_seed(seed)
    table = torch.randint(0, vocab, (vocab, 4), generator=torch.Generator().manual_seed(99))
    p = torch.tensor([0.7, 0.15, 0.1, 0.05])
    rows = [torch.randint(0, vocab, (n,), generator=g)]
    for _ in range(length):
        choice = torch.multinomial(p, n, replacement=True, generator=g)
        rows.append(table[rows[-1], choice])
    return torch.stack(rows, 1)


@torch.no_grad()
def evaluate(model, ids):
    model.eval()
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    acc = (logits.argmax(-1) == ids[:, 1:]).float().mean()
    return loss.item(), acc.item()


def main():
    torch.manual_seed(7)
    args = ModelArgs()
    train, valid = notes(1600, args.context, args.vocab, 1), notes(200, args.context, args.vocab, 2)
    model = LoomLM(args)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    step = 0
    for epoch in range(3):
        model.train()
        for rows in torch.randperm(len(train)).split(32):
            ids = train[rows]
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            if step % 50 == 0:
                print(f"step {step} loss {loss.item():.3f}")
            step += 1
        val, acc = evaluate(model, valid)
        print(f"epoch {epoch} valid loss {val:.3f} ppl {math.exp(min(val, 20)):.1f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
