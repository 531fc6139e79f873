# Review sentiment, bag of embeddings (rewritten from the week 5 notebook)
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import accuracy_score, f1_score

random.seed(11)
torch.manual_seed(11)

GOOD = "great lovely superb fun warm clever touching bright fresh moving".split()
BAD = "dull awful boring weak messy cold slow flat noisy tired".split()
NEUTRAL = ("the a movie film plot actor scene it was with and of in music story this that very director "
           "camera ending start first last").split()


def review():
    label = random.randint(0, 1)
    own, other = (GOOD, BAD) if label else (BAD, GOOD)
    words = random.choices(NEUTRAL, k=random.randint(8, 20))
    words += random.choices(own, k=3) + random.choices(other, k=random.choice([0, 1, 2, 2]))
    random.shuffle(words)
    return words, label


vocab = {w: i + 1 for i, w in enumerate(sorted(set(GOOD + BAD + NEUTRAL)))}
MAXLEN = 25


def encode(words):
    ids = [vocab[w] for w in words][:MAXLEN]
    return ids + [0] * (MAXLEN - len(ids))


def dataset(n):
    rows = [review() for _ in range(n)]
    return torch.tensor([encode(w) for w, _ in rows]), torch.tensor([l for _, l in rows])


class Sentiment(nn.Module):
    def __init__(self, n_words, dim=12, hidden=16):
        super().__init__()
        self.emb = nn.Embedding(n_words + 1, dim, padding_idx=0)
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, 2)

    def forward(self, ids):
        mask = (ids != 0).unsqueeze(-1).float()
        x = (self.emb(ids) * mask).sum(1) / mask.sum(1).clamp(min=1)
        x = F.dropout(x, p=0.6)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def batches(x, y, size):
    order = torch.randperm(len(x))
    for part in order.split(size):
        yield x[part], y[part]


@torch.no_grad()
def classify(model, x):
    model.eval()
    return model(x).argmax(dim=1)


x_train, y_train = dataset(4000)
x_test, y_test = dataset(1500)
model = Sentiment(len(vocab))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(1, 11):
    model.train()
    losses = []
    for xb, yb in batches(x_train, y_train, 64):
        opt.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 3 == 0:
        acc = accuracy_score(y_test, classify(model, x_test))
        print(f"epoch {epoch:2d} loss {sum(losses) / len(losses):.4f} test acc {acc:.4f}")

for attempt in range(3):
    pred = classify(model, x_test)
    print(f"prediction run {attempt}: acc {accuracy_score(y_test, pred):.4f} f1 {f1_score(y_test, pred):.4f}",
          "first ten:", pred[:10].tolist())
