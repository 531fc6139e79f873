"""Tag the words of an invoice line (vendor, date, amount); most words carry no tag and some were never annotated."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

TAGS = ["O", "VENDOR", "DATE", "AMOUNT"]
SKIP = -100
VENDORS = [f"{a}{b}" for a in ("nor", "bel", "kar", "sol", "tim", "ver") for b in ("tec", "pack", "lux", "trade", "med")]
FILLER = "please pay the sum for goods delivered under contract with reference to order number and our terms net days thank you".split()


def line(rng):
    words, tags = [], []
    for _ in range(rng.choice([1, 1, 2, 3])):
        for _ in range(rng.randint(4, 10)):
            words.append(rng.choice(FILLER) if rng.random() < 0.85 else str(rng.randint(1, 60)))
            tags.append(0)
        kind = rng.randint(1, 3)
        if kind == 1:
            words += ["from", rng.choice(VENDORS)]
            tags += [0, 1]
        elif kind == 2:
            words += ["on", str(rng.randint(1, 28)), rng.choice(["march", "april", "may"])]
            tags += [0, 2, 2]
        else:
            words += [str(rng.randint(1, 60)), "euro"]
            tags += [3, 3]
    tags = [SKIP if rng.random() < 0.3 else t for t in tags]
    return words, tags


class Lines(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = sorted((line(rng) for _ in range(n)), key=lambda r: len(r[0]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class WordBudget(Sampler):
    """Batches of lines of similar length with at most `budget` words, in a random order."""

    def __init__(self, data, budget=300):
        self.batches, batch = [], []
        for i, (words, _) in enumerate(data.rows):
            if batch and (len(batch) + 1) * len(words) > budget:
                self.batches.append(batch)
                batch = []
            batch.append(i)
        self.batches.append(batch)

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        yield from random.sample(self.batches, len(self.batches))


class Tagger(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.emb = nn.Embedding(vocab, 32, padding_idx=0)
        self.rnn = nn.LSTM(32, 32, bidirectional=True, batch_first=True)
        self.out = nn.Linear(64, len(TAGS))

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(h)


random.seed(23)
torch.manual_seed(23)
train_set, test_set = Lines(1500, 1), Lines(300, 2)
vocab = {w: i + 2 for i, w in enumerate(sorted({w for words, _ in train_set.rows for w in words}))}


def collate(rows):
    ids = [torch.tensor([vocab.get(w, 1) for w in words]) for words, _ in rows]
    tags = [torch.tensor(t) for _, t in rows]
    return (pad_sequence(ids, batch_first=True), pad_sequence(tags, batch_first=True, padding_value=SKIP),
            torch.tensor([len(i) for i in ids]))


train_loader = DataLoader(train_set, batch_sampler=WordBudget(train_set), collate_fn=collate)
test_loader = DataLoader(test_set, batch_size=64, collate_fn=collate)
model = Tagger(len(vocab) + 2)
weights = torch.tensor([0.3, 2.0, 1.0, 1.0])
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(6):
    model.train()
    total = words = 0
    for ids, tags, lengths in train_loader:
        logits = model(ids, lengths)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), tags, weight=weights, ignore_index=SKIP)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept = (tags != SKIP).sum().item()
        total, words = total + loss.item() * kept, words + kept
    model.eval()
    tp = torch.zeros(4)
    guessed, true = torch.zeros(4), torch.zeros(4)
    with torch.no_grad():
        for ids, tags, lengths in test_loader:
            keep = tags != SKIP
            p, t = model(ids, lengths).argmax(-1)[keep], tags[keep]
            tp += torch.bincount(t[p == t], minlength=4)
            guessed += torch.bincount(p, minlength=4)
            true += torch.bincount(t, minlength=4)
    f1 = 2 * tp / (guessed + true).clamp(min=1)
    print(f"epoch {epoch + 1} loss {total / words:.4f} macro f1 {f1[1:].mean():.3f} " + " ".join(f"{n} {v:.2f}" for n, v in zip(TAGS, f1.tolist())))
