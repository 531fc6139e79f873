import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

random.seed(5)
torch.manual_seed(5)
TAGS = ["O", "PER", "LOC"]
NAMES = "anna bert carla dario elif farid greta hugo ines jonas".split()
CITIES = "oslo lima kyoto porto dakar quito turin malmo".split()
FRAMES = ["P went to L", "in L it rained all day", "P and P live near L", "yesterday P called me",
          "the train from L to L was late", "nobody told P about the party in L last week", "we waited"]
TAIL = "because of the weather and then nothing else happened".split()


def sentence():
    words, tags = [], []
    for tok in random.choice(FRAMES).split() + TAIL[:random.randint(0, len(TAIL))]:
        if tok == "P":
            words.append(random.choice(NAMES)); tags.append(1)
        elif tok == "L":
            words.append(random.choice(CITIES)); tags.append(2)
        else:
            words.append(tok); tags.append(0)
    return words, tags


data = [sentence() for _ in range(1500)]
vocab = {w: i + 1 for i, w in enumerate(sorted({w for s, _ in data for w in s}))}
data = [(torch.tensor([vocab[w] for w in s]), torch.tensor(t)) for s, t in data]
train, dev = data[:1300], data[1300:]


def collate(batch):
    lengths = torch.tensor([len(w) for w, _ in batch])
    words = pad_sequence([w for w, _ in batch], batch_first=True)
    tags = pad_sequence([t for _, t in batch], batch_first=True)
    mask = words != 0
    tags = tags.masked_fill(mask, -100)
    return words, lengths, tags


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab) + 1, 32, padding_idx=0)
        self.lstm = nn.LSTM(32, 32, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, len(TAGS))

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.emb(words), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(h)


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss(ignore_index=-100)
for epoch in range(6):
    model.train()
    running = 0.0
    for words, lengths, tags in DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate):
        optimizer.zero_grad()
        loss = criterion(model(words, lengths).transpose(1, 2), tags)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    tp = fp = fn = 0
    with torch.no_grad():
        for w, t in dev:
            p = model(w[None], torch.tensor([len(w)]))[0].argmax(-1)
            tp += ((p == t) & (t > 0)).sum().item()
            fp += ((p != t) & (p > 0)).sum().item()
            fn += ((p != t) & (t > 0)).sum().item()
    print(f"epoch {epoch + 1} loss {running / 41:.4f} entity f1 {2 * tp / max(2 * tp + fp + fn, 1):.3f}")
