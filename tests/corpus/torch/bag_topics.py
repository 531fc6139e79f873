import random
from collections import Counter
import torch
from torch import nn
from torch.utils.data import DataLoader
from sklearn.metrics import classification_report

random.seed(21); torch.manual_seed(21)
TOPICS = {
    "sport": "goal match team coach league player score cup season referee",
    "money": "bank market share price profit loan stock tax budget trade",
    "science": "cell planet theory energy lab data star gene atom physics",
    "travel": "hotel beach flight island ticket tour museum train luggage city",
}
names = list(TOPICS)
common = "said new year people time day first also two week report home work part world good big small".split()


def article(k):
    own = TOPICS[names[k]].split()
    other = TOPICS[random.choice(names)].split()
    n = random.randint(6, 40)
    words = [random.choice(own) if random.random() < .22 else random.choice(other) if random.random() < .12
             else random.choice(common) for _ in range(n)]
    return " ".join(words), names[k]


corpus = [article(random.randrange(4)) for _ in range(5200)]
train_rows, test_rows = corpus[:4000], corpus[4000:]
counts = Counter(w for text, _ in train_rows for w in text.split())
stoi = {w: i for i, (w, _) in enumerate(counts.most_common())}
UNK = len(stoi)


def hash_pairs(ids, buckets=2000):
    return [UNK + 1 + (a * 31 + b) % buckets for a, b in zip(ids, ids[1:])]


def collate(rows):
    flat, offsets, labels = [], [], []
    for text, topic in rows:
        ids = [stoi.get(w, UNK) for w in text.split()]
        offsets.append(len(flat))
        flat += ids + hash_pairs(ids)
        labels.append(names.index(topic))
    return torch.tensor(flat), torch.tensor(offsets), torch.tensor(labels)


class FastText(nn.Module):
    def __init__(self, rows, dim, n_out):
        super().__init__()
        self.bag = nn.EmbeddingBag(rows, dim, mode="mean", sparse=True)
        self.head = nn.Sequential(nn.Linear(dim, 32), nn.Tanh(), nn.Linear(32, n_out))

    def forward(self, flat, offsets):
        return self.head(self.bag(flat, offsets))


model = FastText(UNK + 1 + 2000, 24, 4)
optims = [torch.optim.SparseAdam(list(model.bag.parameters()), lr=4e-3),
          torch.optim.Adam(model.head.parameters(), lr=1e-3)]
criterion = nn.CrossEntropyLoss(label_smoothing=0.1, reduction="sum")
train_loader = DataLoader(train_rows, batch_size=16, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test_rows, batch_size=200, collate_fn=collate)
EVERY = 4


def accuracy():
    model.eval()
    true, pred = [], []
    with torch.no_grad():
        for flat, offsets, labels in test_loader:
            pred.extend(model(flat, offsets).argmax(1).tolist())
            true.extend(labels.tolist())
    return true, pred


for epoch in range(7):
    model.train()
    epoch_loss = 0.0
    for step, (flat, offsets, labels) in enumerate(train_loader, 1):
        loss = criterion(model(flat, offsets), labels)
        (loss / (16 * EVERY)).backward()
        epoch_loss += loss.item()
        if step % EVERY == 0 or step == len(train_loader):
            for o in optims:
                o.step()
                o.zero_grad()
    true, pred = accuracy()
    acc = sum(t == p for t, p in zip(true, pred)) / len(true)
    print(f"epoch {epoch + 1}: loss {epoch_loss / len(train_rows):.4f} test accuracy {acc:.4f}")

print(classification_report(true, pred, target_names=names, digits=3))
