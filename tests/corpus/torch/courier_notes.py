import random
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

random.seed(1)
torch.manual_seed(1)

OPEN = ["please", "hello driver", "good morning", "note for the courier", "hi there"]
BODY = {
    0: ["leave it at the door", "put the box on the porch", "drop it behind the gate"],
    1: ["ring the bell twice", "call me when you arrive", "knock loudly at the window"],
    2: ["bring it to my neighbour", "give the parcel to the shop downstairs", "hand it to the lady next door"],
    3: ["come back on monday", "deliver it next week instead", "try again tomorrow evening"],
}
FILLER = ["the street is narrow", "the dog is friendly", "parking is in the yard", "the lift is broken",
          "sorry for the trouble", "the number is hidden by a tree", "we moved in last month"]


def make_note():
    label = random.randrange(4)
    parts = [random.choice(FILLER) for _ in range(random.choice([1, 2, 2, 3, 3, 4, 9]))]
    parts.insert(random.randrange(len(parts) + 1), random.choice(BODY[label]))
    return " ".join([random.choice(OPEN)] + parts).split(), label


data = [make_note() for _ in range(1600)]
vocab = {"<pad>": 0}
for words, _ in data:
    for w in words:
        vocab.setdefault(w, len(vocab))


def collate(batch):
    ids = pad_sequence([torch.tensor([vocab[w] for w in words]) for words, _ in batch], batch_first=True)
    return ids, torch.tensor([y for _, y in batch])


train_dl = DataLoader(data[:1300], batch_size=32, shuffle=True, collate_fn=collate)
test_dl = DataLoader(data[1300:], batch_size=64, collate_fn=collate)


class NoteClassifier(nn.Module):
    def __init__(self, vocab_size, d=48, max_len=48):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d, padding_idx=0)
        self.pos = nn.Embedding(max_len, d)
        layer = nn.TransformerEncoderLayer(d, 4, 96, dropout=0.1, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(d, 4)

    def forward(self, ids):
        mask = ids == 0
        pos = torch.arange(ids.size(1), device=ids.device)
        h = self.tok(ids) + self.pos(pos)
        h = self.enc(h, src_key_padding_mask=mask)
        keep = (~mask).unsqueeze(-1)
        return self.out((h * keep).sum(1) / keep.sum(1))


model = NoteClassifier(len(vocab))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(5):
    model.train()
    total = 0
    for ids, y in train_dl:
        opt.zero_grad()
        loss = loss_fn(model(ids), y)
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    right = 0
    with torch.no_grad():
        for ids, y in test_dl:
            right += (model(ids).argmax(1) == y).sum().item()
    print(f"epoch {epoch}: loss {total / len(train_dl):.3f}, accuracy {right / 300:.3f}")
