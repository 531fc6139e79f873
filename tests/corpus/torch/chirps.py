import random
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

random.seed(0)
torch.manual_seed(0)

happy = ["love", "great", "sunny", "thanks", "yay", "win", "cake", "friends"]
angry = ["hate", "late", "rain", "broken", "ugh", "lost", "queue", "tired"]
common = ["the", "a", "today", "my", "bus", "so", "it", "was", "really", "just", "at", "work", "phone", "with"]


def make_tweet(label):
    words = random.choices(common, k=random.randint(2, 9))
    words += random.choices(happy if label else angry, k=random.randint(1, 3))
    random.shuffle(words)
    return " ".join(words)


data = []
for i in range(1200):
    label = random.randint(0, 1)
    data.append((make_tweet(label), label))

vocab = {"<pad>": 0}
for text, _ in data:
    for w in text.split():
        vocab.setdefault(w, len(vocab))


class TweetDataset(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        ids = [vocab[w] for w in text.split()]
        return torch.tensor(ids), torch.tensor(label)


train_loader = DataLoader(TweetDataset(data[:1000]), batch_size=32, shuffle=True)
test_loader = DataLoader(TweetDataset(data[1000:]), batch_size=32)


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, 32, padding_idx=0)
        self.lstm = nn.LSTM(32, 32, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(64, 2)

    def forward(self, x):
        lengths = (x != 0).sum(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(x), lengths, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return self.fc(torch.cat([h[0], h[1]], dim=1))


model = SentimentLSTM(len(vocab))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(5):
    model.train()
    total = 0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch + 1}: loss {total / len(train_loader):.4f}  test acc {correct / 200:.3f}")
