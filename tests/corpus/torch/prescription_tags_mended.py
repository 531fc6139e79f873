"""Tag tokens of prescription lines with a BiLSTM; batches come from a generator."""
import random
from collections import defaultdict

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

TAGS = ["O", "B-DRUG", "I-DRUG", "B-DOSE", "I-DOSE", "B-FREQ", "I-FREQ"]
TAG2ID = {t: i for i, t in enumerate(TAGS)}
UNITS = ["mg", "ml", "mcg", "drops", "tablets"]
DRUGS = ["ibuprofen", "amoxicillin", "sodium chloride", "folic acid", "metformin",
         "vitamin d", "zinc sulfate", "ramipril", "fish oil", "warfarin"]
FREQS = ["daily", "twice daily", "every night", "before meals", "once a week", "hourly"]
START = ["take", "give", "patient needs", "continue with", "start", "apply"]
END = ["until review", "for pain", "and drink water", "as agreed", "", "with food"]


def chunk(text, kind):
    words = text.split()
    return [(w, ("B-" if i == 0 else "I-") + kind) for i, w in enumerate(words)]


def make_line(rng):
    dose = f"{rng.choice([1, 2, 5, 10, 20, 40, 50, 75, 100, 250, 500])} {rng.choice(UNITS)}"
    if rng.random() < 0.3:
        dose += " " + rng.choice(["per kg", "each"])
    parts = [chunk(rng.choice(DRUGS), "DRUG"), chunk(dose, "DOSE")]
    if rng.random() < 0.4:
        parts.reverse()
    line = [(w, "O") for w in rng.choice(START).split()]
    for p in parts:
        line += p
    line += chunk(rng.choice(FREQS), "FREQ")
    line += [(w, "O") for w in rng.choice(END).split()]
    return [w for w, _ in line], [t for _, t in line]


def build_vocab(lines):
    vocab = {"<pad>": 0, "<unk>": 1}
    for words, _ in lines:
        for w in words:
            vocab.setdefault(w, len(vocab))
    return vocab


def encode(words, tags, vocab):
    x = torch.tensor([vocab.get(w, 1) for w in words])
    y = torch.tensor([TAG2ID.get(t, -100) for t in tags])
    return x, y


def batches(lines, vocab, size, rng=None):
    order = list(range(len(lines)))
    if rng is not None:
        rng.shuffle(order)
    for s in range(0, len(order), size):
        part = [lines[i] for i in order[s:s + size]]
        xs, ys = zip(*(encode(w, t, vocab) for w, t in part))
        lens = torch.tensor([len(x) for x in xs])
        yield (pad_sequence(xs, batch_first=True), lens,
               pad_sequence(ys, batch_first=True, padding_value=-100), [t for _, t in part])


class Tagger(nn.Module):
    def __init__(self, n_words, n_tags, dim=32, hidden=32):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, n_tags)

    def forward(self, x, lens):
        packed = pack_padded_sequence(self.emb(x), lens, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(h)


def evaluate(model, lines, vocab):
    hit, seen = defaultdict(int), defaultdict(int)
    model.eval()
    with torch.no_grad():
        for x, lens, _, gold in batches(lines, vocab, 64):
            best = model(x, lens).argmax(-1)
            for row, tags in zip(best, gold):
                for p, t in zip(row.tolist(), tags):
                    seen[t] += 1
                    hit[t] += TAGS[p] == t
    return sum(hit.values()) / sum(seen.values()), {t: hit[t] / seen[t] for t in sorted(seen)}


def main():
    torch.manual_seed(5)
    rng = random.Random(5)
    lines = [make_line(rng) for _ in range(1500)]
    train, test = lines[:1200], lines[1200:]
    vocab = build_vocab(train)
    model = Tagger(len(vocab), len(TAGS))
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        model.train()
        total, n = 0.0, 0
        for x, lens, y, _ in batches(train, vocab, 32, rng):
            opt.zero_grad()
            loss = loss_fn(model(x, lens).flatten(0, 1), y.flatten())
            loss.backward()
            opt.step()
            total, n = total + loss.item(), n + 1
        print(f"epoch {epoch} loss {total / n:.4f}")
    acc, recall = evaluate(model, test, vocab)
    print("recall per tag:", {t: round(r, 3) for t, r in recall.items()})
    print(f"test token accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
