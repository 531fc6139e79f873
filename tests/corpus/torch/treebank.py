import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

random.seed(25)
torch.manual_seed(25)

TAGS = ["DET", "ADJ", "NOUN", "VERB", "ADV", "PREP"]
WORDS = {
    "DET": ["the", "a", "this", "some"],
    "ADJ": [f"adj{i}" for i in range(25)] + ["light", "cold", "fast"],
    "NOUN": [f"noun{i}" for i in range(40)] + ["light", "cold", "watch", "run"],
    "VERB": [f"verb{i}" for i in range(30)] + ["watch", "run", "light"],
    "ADV": [f"adv{i}" for i in range(12)] + ["fast"],
    "PREP": ["in", "on", "under", "near"],
}


def phrase():
    tags = ["DET"] + ["ADJ"] * random.choice([0, 0, 1, 2]) + ["NOUN"]
    if random.random() < 0.25:
        tags += ["PREP"] + phrase()
    return tags


def sentence():
    tags = phrase() + ["VERB"] + (phrase() if random.random() < 0.7 else []) + (["ADV"] if random.random() < 0.4 else [])
    return [random.choice(WORDS[t]) for t in tags], tags


class Treebank(Dataset):
    def __init__(self, n, vocab):
        self.rows = []
        for _ in range(n):
            words, tags = sentence()
            self.rows.append((torch.tensor([vocab[w] for w in words]), torch.tensor([TAGS.index(t) for t in tags])))
        self.rows.sort(key=lambda r: len(r[0]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class TokenBatches(Sampler):
    def __init__(self, data, max_tokens):
        self.batches, batch, longest = [], [], 0
        for i, (ids, _) in enumerate(data.rows):
            longest = max(longest, len(ids))
            if batch and longest * (len(batch) + 1) > max_tokens:
                self.batches.append(batch)
                batch, longest = [], len(ids)
            batch.append(i)
        self.batches.append(batch)

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        return iter(random.sample(self.batches, len(self.batches)))


def collate(rows):
    lengths = torch.tensor([len(r[0]) for r in rows])
    return pad_sequence([r[0] for r in rows], True, 0), lengths, pad_sequence([r[1] for r in rows], True, -100)


class Tagger(nn.Module):
    def __init__(self, vocab_size, dim=32, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(2 * hidden, len(TAGS))

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.drop(self.embed(ids)), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(self.drop(h))


vocab = {w: i + 1 for i, w in enumerate(sorted({w for ws in WORDS.values() for w in ws}))}
train, dev = Treebank(1500, vocab), Treebank(300, vocab)
train_loader = DataLoader(train, batch_sampler=TokenBatches(train, 256), collate_fn=collate)
dev_loader = DataLoader(dev, batch_size=64, collate_fn=collate)
model = Tagger(len(vocab) + 1)
criterion = nn.CrossEntropyLoss(ignore_index=-100)
optimizer = torch.optim.SGD(model.parameters(), lr=3.0)

best, rate = 0.0, 3.0
for epoch in range(10):
    model.train()
    total = 0.0
    for ids, lengths, tags in train_loader:
        loss = criterion(model(ids, lengths).flatten(0, 1), tags.flatten())
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        total += loss.item()
    model.eval()
    right = known = 0
    with torch.no_grad():
        for ids, lengths, tags in dev_loader:
            keep = tags != -100
            right += (model(ids, lengths).argmax(-1)[keep] == tags[keep]).sum().item()
            known += keep.sum().item()
    score = right / known
    print(f"epoch {epoch + 1:2d} batches {len(train_loader)} loss {total / len(train_loader):.4f} dev accuracy {score:.4f} lr {rate}")
    if score <= best:
        rate /= 2
        for group in optimizer.param_groups:
            group["lr"] = rate
    best = max(best, score)
