# Seq2seq: turn written dates ("7 march 1984") into ISO dates ("1984-03-07"), character level.
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

MONTHS = ("january february march april may june july august september october november december").split()
CHARS = "abcdefghijklmnopqrstuvwxyz0123456789 ,-"
PAD, BOS, EOS = 0, 1, 2
STOI = {c: i + 3 for i, c in enumerate(CHARS)}
ITOS = {i: c for c, i in STOI.items()}


def sample_date(rng):
    y, m, d = rng.randint(1950, 2029), rng.randint(1, 12), rng.randint(1, 28)
    name = MONTHS[m - 1] if rng.random() < 0.6 else MONTHS[m - 1][:3]
    style = rng.randrange(3)
    written = [f"{d} {name} {y}", f"{name} {d}, {y}", f"{y} {name} {d}"][style]
    return written, f"{y:04d}-{m:02d}-{d:02d}"


def encode(s, wrap=False):
    ids = [STOI[c] for c in s]
    return torch.tensor([BOS] + ids + [EOS] if wrap else ids)


class Rewriter(nn.Module):
    def __init__(self, vocab, emb=32, hid=128):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.enc = nn.GRU(emb, hid // 2, batch_first=True, bidirectional=True)
        self.dec = nn.GRU(emb, hid, batch_first=True)
        self.query = nn.Linear(hid, hid, bias=False)
        self.out = nn.Sequential(nn.Linear(2 * hid, hid), nn.Tanh(), nn.Linear(hid, vocab))

    def encode(self, src):
        memory, h = self.enc(self.emb(src))
        h = torch.cat([h[0], h[1]], dim=-1).unsqueeze(0)
        return memory, h, src.eq(PAD)

    def decode(self, y, memory, h, blank):
        states, h = self.dec(self.emb(y), h)
        score = self.query(states) @ memory.transpose(1, 2)
        score = score.masked_fill(blank[:, None, :], -1e9)
        context = score.softmax(-1) @ memory
        return self.out(torch.cat([states, context], -1)), h

    def forward(self, src, y):
        memory, h, blank = self.encode(src)
        return self.decode(y, memory, h, blank)[0]

    @torch.no_grad()
    def generate(self, src, steps=11):
        memory, h, blank = self.encode(src)
        tok = torch.full((src.size(0), 1), BOS)
        made = []
        for _ in range(steps):
            logits, h = self.decode(tok, memory, h, blank)
            tok = logits[:, -1:].argmax(-1)
            made.append(tok)
        return torch.cat(made, 1)


def detok(row):
    text = ""
    for i in row.tolist():
        if i == EOS:
            break
        text += ITOS.get(i, "")
    return text


def batches(pairs, size, rng=None):
    order = list(range(len(pairs)))
    if rng:
        rng.shuffle(order)
    for k in range(0, len(order), size):
        chunk = [pairs[i] for i in order[k : k + size]]
        src = pad_sequence([encode(a) for a, _ in chunk], batch_first=True, padding_value=PAD)
        tgt = pad_sequence([encode(b, True) for _, b in chunk], batch_first=True, padding_value=PAD)
        yield src, tgt, [b for _, b in chunk]


def exact_match(model, pairs):
    model.eval()
    right = 0
    for src, _, gold in batches(pairs, 200):
        right += sum(detok(r) == g for r, g in zip(model.generate(src), gold))
    return right / len(pairs)


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    data = [sample_date(rng) for _ in range(4400)]
    train, test = data[:4000], data[4000:]
    model = Rewriter(len(CHARS) + 3)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    loss_fn = nn.CrossEntropyLoss(ignore_index=PAD)
    for epoch in range(8):
        model.train()
        total = n = 0
        for src, tgt, _ in batches(train, 64, rng):
            dec_in, gold = tgt, tgt
            logits = model(src, dec_in)
            loss = loss_fn(logits.flatten(0, 1), gold.flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total, n = total + loss.item(), n + 1
        print(f"epoch {epoch}  train loss {total / n:.4f}  exact match {exact_match(model, test):.3f}")
    for a, b in test[:5]:
        print(a, "->", detok(model.generate(encode(a)[None])[0]), "| want", b)


if __name__ == "__main__":
    main()
