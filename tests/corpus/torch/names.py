# tag persons (PER) and towns (LOC) in short letters
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

random.seed(0)
torch.manual_seed(0)
TAGS = {"O": 0, "PER": 1, "LOC": 2}
syll = ["ka", "lo", "mi", "ren", "tas", "vu", "del", "or", "bin", "sa"]
word = lambda: "".join(random.choices(syll, k=random.randint(2, 3)))
patterns = ["dear {P} I am now in {L}", "{P} and {P} moved from {L} to {L} last week",
            "say hello to {P}", "we took the train to {L} and met {P} there", "the weather in {L} was mild"]


def sample():
    toks, tags = [], []
    for t in random.choice(patterns).split():
        toks.append(word() if t in ("{P}", "{L}") else t)
        tags.append(TAGS["PER"] if t == "{P}" else TAGS["LOC"] if t == "{L}" else TAGS["O"])
    return toks, tags


train, test = [sample() for _ in range(1200)], [sample() for _ in range(200)]
vocab = {"<pad>": 0, "<unk>": 1}
seen = [t for toks, _ in train for t in toks]
for t in seen:
    if seen.count(t) > 8:
        vocab.setdefault(t, len(vocab))


def batches(data, size=32, shuffle=False):
    data = random.sample(data, len(data)) if shuffle else data
    for i in range(0, len(data), size):
        part = data[i:i + size]
        ids = [torch.tensor([vocab.get(t, 1) for t in toks]) for toks, _ in part]
        tags = [torch.tensor(tg) for _, tg in part]
        yield (pad_sequence(ids, batch_first=True), torch.tensor([len(i) for i in ids]),
               pad_sequence(tags, batch_first=True, padding_value=-100))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab), 24, padding_idx=0)
        self.lstm = nn.LSTM(24, 32, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, len(TAGS))

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(h)


model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
crit = nn.CrossEntropyLoss(ignore_index=-100)
for epoch in range(6):
    model.train()
    losses = []
    for ids, lengths, tags in batches(train, shuffle=True):
        loss = crit(model(ids, lengths).flatten(0, 1), tags.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    model.eval()
    hit = n = 0
    with torch.no_grad():
        for ids, lengths, tags in batches(test):
            entity = tags > 0
            hit += (model(ids, lengths).argmax(-1)[entity] == tags[entity]).sum().item()
            n += entity.sum().item()
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}, entity recall {hit / n:.3f}")
