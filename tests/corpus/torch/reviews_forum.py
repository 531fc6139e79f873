import random
from collections import Counter

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

random.seed(5)
torch.manual_seed(5)
MAX_LEN = 120
good = "great lovely tasty friendly clean superb fresh cosy".split()
bad = "awful rude dirty bland stale slow noisy cold".split()
filler = "the place we went on monday with my sister and ordered soup bread then tea at table near window it was".split()


def make_review():
    label = random.randint(0, 1)
    n = random.randint(8, 30)
    words = random.choices(filler, k=n)
    for pos in random.sample(range(n), 3):
        words[pos] = random.choice(good if label else bad)
    if random.random() < 0.2:
        words[random.randrange(n)] = random.choice(bad if label else good)
    return " ".join(words), label


corpus = [make_review() for _ in range(2000)]
counts = Counter(w for text, _ in corpus for w in text.split())
vocab = {"<pad>": 0, "<unk>": 1}
for w in counts:
    vocab[w] = len(vocab)


def encode(text):
    ids = [vocab.get(w, 1) for w in text.split()][:MAX_LEN]
    return ids + [0] * (MAX_LEN - len(ids))


def collate(batch):
    return torch.tensor([encode(t) for t, _ in batch]), torch.tensor([l for _, l in batch]).float()


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size, emb=32, hidden=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.lstm(self.embedding(x))
        last = out[:, -1, :]
        return self.fc(last).squeeze(1)


train_dl = DataLoader(corpus[:1600], batch_size=64, shuffle=True, collate_fn=collate)
test_dl = DataLoader(corpus[1600:], batch_size=64, collate_fn=collate)
model = SentimentLSTM(len(vocab))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(8):
    model.train()
    total = 0
    for x, y in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        acc = sum(((model(x) > 0) == y.bool()).sum().item() for x, y in test_dl) / 400
    print(f"Epoch: {epoch + 1:02} | Train Loss: {total / len(train_dl):.3f} | Test Acc: {acc * 100:.2f}%")
