"""Small part-of-speech tagger: the same word form may be a noun or a verb."""
import random
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

random.seed(3)
torch.manual_seed(3)
DET, PRO, FORMS = ["the", "a", "my", "this"], ["i", "you", "we", "they"], \
    ["walk", "play", "love", "plan", "call", "look", "talk", "work", "help", "visit"]
TAGS = {"DET": 0, "PRON": 1, "NOUN": 2, "VERB": 3}

words, tags = [], []
while len(words) < 48000:
    if random.random() < 0.5:
        s = [(random.choice(PRO), "PRON"), (random.choice(FORMS), "VERB")]
        if random.random() < 0.4:
            s += [(random.choice(DET), "DET"), (random.choice(FORMS), "NOUN")]
    else:
        s = [(random.choice(DET), "DET"), (random.choice(FORMS), "NOUN"), (random.choice(FORMS), "VERB")]
    for w, t in s:
        words.append(w)
        tags.append(t)

vocab = {w: i for i, w in enumerate(sorted(set(words)))}
WIN = 16
n = len(words) // WIN
X = torch.tensor([vocab[w] for w in words[: n * WIN]]).view(n, WIN)
Y = torch.tensor([TAGS[t] for t in tags[: n * WIN]]).view(n, WIN)
cut = int(0.85 * n)
train_dl = DataLoader(TensorDataset(X[:cut], Y[:cut]), batch_size=32, shuffle=True)
test_dl = DataLoader(TensorDataset(X[cut:], Y[cut:]), batch_size=32)


class Tagger(nn.Module):
    def __init__(self, n_words, n_tags, dim=24, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim)
        self.rnn = nn.GRU(dim, hidden)
        self.fc = nn.Linear(hidden, n_tags)

    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        return self.fc(h)


model = Tagger(len(vocab), len(TAGS))
crit = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(8):
    model.train()
    total = 0.0
    for xb, yb in train_dl:
        opt.zero_grad()
        loss = crit(model(xb).reshape(-1, len(TAGS)), yb.reshape(-1))
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    model.eval()
    hit = cnt = 0
    with torch.no_grad():
        for xb, yb in test_dl:
            p = model(xb).argmax(-1)
            amb = yb >= 2
            hit += (p[amb] == yb[amb]).sum().item()
            cnt += amb.sum().item()
    print(f"epoch {epoch + 1}: loss {total / cut:.4f}  noun/verb acc {hit / cnt:.3f}")
