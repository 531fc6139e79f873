from collections import Counter
import random

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import Dataset, DataLoader

random.seed(42)
torch.manual_seed(42)

GOOD = "lovely clean friendly spacious quiet delicious comfortable charming spotless helpful".split()
BAD = "dirty noisy rude tiny broken cold smelly overpriced stained slow".split()
THINGS = "room bed breakfast staff bathroom pool lobby view shower restaurant".split()
PLACES = ["hotel%d" % i for i in range(60)]
GLUE = "the was and a very our we stayed at in it really".split()

PAD, UNK = 0, 1


def fake_review():
    positive = random.random() < 0.5
    words = ["we", "stayed", "at", random.choice(PLACES)]
    for _ in range(random.randint(2, 5)):
        pool = (GOOD if positive else BAD) if random.random() < 0.8 else (BAD if positive else GOOD)
        words += ["the", random.choice(THINGS), "was", random.choice(pool)]
        if random.random() < 0.4:
            words.append(random.choice(GLUE))
    return words, int(positive)


class Vocabulary:
    def __init__(self, texts, min_freq=1):
        counts = Counter(w for t in texts for w in t)
        self.words = [w for w, c in counts.most_common() if c >= min_freq]
        # 0 is the padding and 1 stands for unknown words
        self.index = {w: i + 2 for i, w in enumerate(self.words)}

    def __len__(self):
        return len(self.words)

    def encode(self, text):
        return [self.index.get(w, UNK) for w in text]


class ReviewDataset(Dataset):
    def __init__(self, reviews, vocab, max_len=32):
        self.items = []
        for text, label in reviews:
            ids = vocab.encode(text)[:max_len]
            ids = ids + [PAD] * (max_len - len(ids))
            self.items.append((torch.tensor(ids), torch.tensor(label, dtype=torch.float32)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class SentimentNet(nn.Module):
    def __init__(self, vocab_size, emb_dim=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_dim, padding_idx=PAD)
        self.fc = nn.Sequential(nn.Linear(emb_dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, ids):
        mask = (ids != PAD).unsqueeze(-1).float()
        mean = (self.embedding(ids) * mask).sum(1) / mask.sum(1)
        return self.fc(mean).squeeze(1)


reviews = [fake_review() for _ in range(2500)]
train_reviews, test_reviews = reviews[:2000], reviews[2000:]
vocab = Vocabulary([text for text, _ in train_reviews])
print("vocabulary:", len(vocab), "words")

train_dl = DataLoader(ReviewDataset(train_reviews, vocab), batch_size=50, shuffle=True)
test_dl = DataLoader(ReviewDataset(test_reviews, vocab), batch_size=100)

model = SentimentNet(vocab_size=len(vocab))
loss_fn = nn.BCEWithLogitsLoss()
opt = optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(6):
    model.train()
    for ids, label in train_dl:
        opt.zero_grad()
        loss = loss_fn(model(ids), label)
        loss.backward()
        opt.step()

    model.eval()
    correct = 0
    with torch.no_grad():
        for ids, label in test_dl:
            correct += ((model(ids) > 0) == (label > 0.5)).sum().item()
    print(f"epoch {epoch + 1}: last loss {loss.item():.3f}, test accuracy {correct / len(test_reviews):.3f}")
