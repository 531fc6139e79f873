import random
import re
from collections import Counter

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

random.seed(13)
torch.manual_seed(13)

GOOD = "wonderful brilliant charming superb moving delightful clever gripping".split()
BAD = "dreadful boring clumsy awful tedious shallow painful lifeless".split()
THING = "plot acting music ending script camera cast dialogue".split()
PLAIN = "I saw this film last night with some friends and we talked about it on the way home".split()
MAX_LEN = 150
EMBED_DIM = 32
HIDDEN_DIM = 48
BATCH_SIZE = 32
EPOCHS = 8


def write_review():
    label = random.randint(0, 1)
    words = []
    for _ in range(random.randint(2, 4)):
        adj = random.choice(GOOD if (random.random() < 0.93) == bool(label) else BAD)
        words += ["the", random.choice(THING), "was", adj]
        if random.random() < 0.4:
            words += random.sample(PLAIN, random.randint(2, 5))
        words[-1] += random.choice([".", ",", "!"])
    return " ".join(words), label


def tokenize(text):
    return re.findall(r"[a-z']+", text.lower())


class Vocabulary:
    def __init__(self, texts, min_freq=2):
        counts = Counter(tok for t in texts for tok in tokenize(t))
        self.itos = ["<pad>", "<unk>"] + sorted(w for w, c in counts.items() if c >= min_freq)
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, text):
        return [self.stoi.get(tok, 1) for tok in tokenize(text)]


class ReviewDataset(Dataset):
    def __init__(self, reviews, vocab, max_len=MAX_LEN):
        self.items = []
        for text, label in reviews:
            ids = vocab.encode(text)[:max_len]
            ids = ids + [0] * (max_len - len(ids))
            self.items.append((torch.tensor(ids), torch.tensor(float(label))))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        return self.items[idx]


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, EMBED_DIM, padding_idx=0)
        self.lstm = nn.LSTM(EMBED_DIM, HIDDEN_DIM, batch_first=True)
        self.dropout = nn.Dropout(0.2)
        self.fc = nn.Linear(HIDDEN_DIM, 1)

    def forward(self, text):
        output, (hidden, cell) = self.lstm(self.embedding(text))
        return self.fc(self.dropout(hidden[-1])).squeeze(1)


def binary_accuracy(logits, y):
    return ((torch.sigmoid(logits) > 0.5).float() == y).float().sum().item()


def train_epoch(model, loader, optimizer, criterion):
    model.train()
    epoch_loss, hits = 0.0, 0.0
    for text, label in loader:
        optimizer.zero_grad()
        logits = model(text)
        loss = criterion(logits, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        epoch_loss += loss.item() * len(label)
        hits += binary_accuracy(logits, label)
    n = len(loader.dataset)
    return epoch_loss / n, hits / n


def evaluate(model, loader, criterion):
    model.eval()
    epoch_loss, hits = 0.0, 0.0
    with torch.no_grad():
        for text, label in loader:
            logits = model(text)
            epoch_loss += criterion(logits, label).item() * len(label)
            hits += binary_accuracy(logits, label)
    n = len(loader.dataset)
    return epoch_loss / n, hits / n


def main():
    reviews = [write_review() for _ in range(1500)]
    train_reviews, valid_reviews = reviews[:1200], reviews[1200:]
    vocab = Vocabulary([t for t, _ in train_reviews])
    train_loader = DataLoader(ReviewDataset(train_reviews, vocab), batch_size=BATCH_SIZE, shuffle=True)
    valid_loader = DataLoader(ReviewDataset(valid_reviews, vocab), batch_size=BATCH_SIZE)
    model = SentimentLSTM(len(vocab))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(EPOCHS):
        train_loss, train_acc = train_epoch(model, train_loader, optimizer, criterion)
        valid_loss, valid_acc = evaluate(model, valid_loader, criterion)
        print(f"Epoch {epoch + 1:02} | train loss {train_loss:.3f} acc {train_acc * 100:.1f}% "
              f"| val loss {valid_loss:.3f} acc {valid_acc * 100:.1f}%")


if __name__ == "__main__":
    main()
