import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

NAMES = "anna boris carla dmitri elena farid greta hugo".split()
CITIES = "paris oslo lima cairo delhi quito".split()
BOTH = "florence sydney austin victoria".split()
PATTERNS = [
    "P met P in C", "P flew from C to C", "the train to C left without P",
    "in C we saw P", "P called P yesterday", "they moved from C to C last year", "nobody told P",
]
TAGS = {"O": 0, "P": 1, "C": 2}
WORDS = sorted({w for p in PATTERNS for w in p.split() if w not in "PC"}) + NAMES + CITIES + BOTH
VOCAB = {w: i + 1 for i, w in enumerate(WORDS)}


def sentence(rng):
    words, tags = [], []
    for part in range(rng.randint(1, 3)):
        for w in rng.choice(PATTERNS).split():
            if w in "PC":
                pool = BOTH if rng.random() < 0.5 else (NAMES if w == "P" else CITIES)
                tags.append(TAGS[w])
                words.append(VOCAB[rng.choice(pool)])
            else:
                tags.append(TAGS["O"])
                words.append(VOCAB[w])
    return words, tags


def batches(rng, count, size):
    for _ in range(count):
        rows = [sentence(rng) for _ in range(size)]
        longest = max(len(w) for w, _ in rows)
        x = torch.zeros(size, longest, dtype=torch.long)
        y = torch.full((size, longest), -100)
        for i, (w, t) in enumerate(rows):
            x[i, :len(w)] = torch.tensor(w)
            y[i, :len(t)] = torch.tensor(t)
        yield x, y


class Tagger(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(len(VOCAB) + 1, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, dim, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * dim, 3)

    def forward(self, x):
        lengths = (x != 0).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(h)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=150)
    ap.add_argument("--accumulate", type=int, default=4)
    args = ap.parse_args()
    torch.manual_seed(0)
    model = Tagger()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    stream = batches(random.Random(1), args.updates * args.accumulate, 16)
    tokens, running = 0, 0.0
    for step, (x, y) in enumerate(stream, 1):
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        loss.backward()
        tokens += int((y != -100).sum())
        running += loss.item()
        if step % args.accumulate:
            continue
        for p in model.parameters():
            p.grad /= tokens
        opt.step()
        opt.zero_grad()
        if step % 100 == 0:
            print(f"step {step} loss per token {running / tokens:.4f}")
        tokens, running = 0, 0.0
    hits, n = [0, 0], [0, 0]
    with torch.no_grad():
        for x, y in batches(random.Random(99), 20, 32):
            p = model(x).argmax(-1)
            for k, mask in enumerate([y != -100, y > 0]):
                hits[k] += (p[mask] == y[mask]).sum().item()
                n[k] += mask.sum().item()
    print(f"token accuracy {hits[0] / n[0]:.3f}, entity token accuracy {hits[1] / n[1]:.3f}")


if __name__ == "__main__":
    main()
