"""Character seq2seq with attention: rewrites dates as people type them into ISO form."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
PAD, BOS, EOS = 0, 1, 2
CHARS = ["<pad>", "<s>", "</s>"] + list("abcdefghijklmnopqrstuvwxyz0123456789-/ ,.")
IDX = {c: i for i, c in enumerate(CHARS)}


def sample(rng):
    y, m, d = rng.randint(1950, 2030), rng.randint(1, 12), rng.randint(1, 28)
    style = rng.randrange(3)
    if style == 0:
        src = f"{d} {MONTHS[m - 1]} {y}"
    elif style == 1:
        src = f"{MONTHS[m - 1]} {d}, {y}"
    else:
        src = f"{d}/{m}/{y}"
    return src, f"{y}-{m:02d}-{d:02d}"


def pack(strings, bos):
    rows = [([BOS] if bos else []) + [IDX[c] for c in s] + [EOS] for s in strings]
    width = max(map(len, rows))
    return torch.tensor([r + [PAD] * (width - len(r)) for r in rows])


class Rewriter(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.emb = nn.Embedding(len(CHARS), d, padding_idx=PAD)
        self.enc = nn.GRU(d, d, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * d, d)
        self.keys = nn.Linear(2 * d, d)
        self.dec = nn.GRU(d, d, batch_first=True)
        self.out = nn.Sequential(nn.Linear(3 * d, d), nn.Tanh(), nn.Linear(d, len(CHARS)))

    def encode(self, src):
        mem, h = self.enc(self.emb(src))
        h0 = torch.tanh(self.bridge(torch.cat([h[0], h[1]], -1))).unsqueeze(0)
        return mem, src.eq(PAD), h0

    def decode(self, tokens, mem, mask, h):
        o, h = self.dec(self.emb(tokens), h)
        score = o @ self.keys(mem).transpose(1, 2)
        att = score.masked_fill(mask[:, None], -1e9).softmax(-1)
        return self.out(torch.cat([o, att @ mem], -1)), h

    @torch.no_grad()
    def translate(self, src, steps=12):
        mem, mask, h = self.encode(src)
        tok = torch.full((src.size(0), 1), BOS)
        res = []
        for _ in range(steps):
            logits, h = self.decode(tok, mem, mask, h)
            tok = logits[:, -1:].argmax(-1)
            res.append(tok)
        return torch.cat(res, 1)


def text(ids):
    s = ""
    for i in ids.tolist():
        if i == EOS:
            break
        s += CHARS[i] if i > EOS else "?"
    return s


def main():
    torch.manual_seed(4)
    rng = random.Random(4)
    net = Rewriter()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    test = [sample(rng) for _ in range(300)]
    src_test = pack([a for a, _ in test], bos=False)
    for step in range(1, 901):
        pairs = [sample(rng) for _ in range(32)]
        src = pack([a for a, _ in pairs], bos=False)
        tgt = pack([b for _, b in pairs], bos=True)
        mem, mask, h = net.encode(src)
        logits, _ = net.decode(tgt[:, 1:], mem, mask, h)
        loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        if step % 150 == 0:
            got = [text(r) for r in net.translate(src_test)]
            exact = sum(g == b for g, (_, b) in zip(got, test)) / len(test)
            print(f"step {step}  loss {loss.item():.4f}  exact {exact:.3f}")
    for (a, b), g in list(zip(test, got))[:5]:
        print(f"{a!r:20} -> {g!r:14} (want {b!r})")


if __name__ == "__main__":
    main()
