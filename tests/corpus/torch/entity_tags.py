import random
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader

random.seed(4)
torch.manual_seed(4)

NAMES = "anna bruno carla dmitri elena farid greta hugo".split()
CITIES = "paris lima oslo cairo quito delhi".split()
FIRMS = "acme globex initech umbrella".split()
BOTH = ["jordan", "sydney", "florence"]
FILLER = "yesterday the meeting was very long and nobody really knew why it had started".split()
TAGS = ["O", "PER", "LOC", "ORG"]


def sample():
    toks, tags = [], []

    def add(words, tag):
        if random.random() < 0.03:
            tag = "O"
        for w in words:
            toks.append(w)
            tags.append(tag)

    for _ in range(random.randint(1, 5)):
        kind = random.random()
        if kind < 0.3:
            add([random.choice(NAMES + BOTH)], "PER")
            add([random.choice(["said", "left", "called"])], "O")
        elif kind < 0.6:
            add(["in"], "O")
            add([random.choice(CITIES + BOTH)], "LOC")
        elif kind < 0.75:
            add(["at"], "O")
            add([random.choice(FIRMS)], "ORG")
        else:
            add(random.sample(FILLER, random.randint(1, 6)), "O")
    return toks, tags


corpus = [sample() for _ in range(1500)]
vocab = {"<pad>": 0}
for toks, _ in corpus:
    for w in toks:
        vocab.setdefault(w, len(vocab))
encoded = [(torch.tensor([vocab[w] for w in toks]), torch.tensor([TAGS.index(t) for t in tags]))
           for toks, tags in corpus]
train, test = encoded[:1200], encoded[1200:]


def buckets(data, size):
    order = sorted(range(len(data)), key=lambda i: len(data[i][0]))
    groups = [order[i:i + size] for i in range(0, len(order), size)]
    random.shuffle(groups)
    return groups


def collate(batch):
    xs, ys = zip(*batch)
    return (pad_sequence(xs, batch_first=True), torch.tensor([len(x) for x in xs]),
            pad_sequence(ys, batch_first=True, padding_value=-100))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab), 24, padding_idx=0)
        self.lstm = nn.LSTM(24, 24, batch_first=True, bidirectional=True)
        self.out = nn.Linear(48, len(TAGS))

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(h)


tagger = Tagger()
criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.5, 1.0, 1.0, 2.0]))
optimizer = torch.optim.RMSprop(tagger.parameters(), lr=2e-3)

for epoch in range(10):
    tagger.train()
    running, n = 0.0, 0
    for x, lengths, y in DataLoader(train, batch_sampler=buckets(train, 8), collate_fn=collate):
        logits = tagger(x, lengths)
        loss = criterion(logits.transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
        n += 1
    tagger.eval()
    tp = fp = fn = 0
    with torch.no_grad():
        for x, lengths, y in DataLoader(test, batch_size=64, collate_fn=collate):
            pred = tagger(x, lengths).argmax(-1)
            real = y != -100
            tp += ((pred == y) & (y > 0)).sum().item()
            fp += ((pred != y) & (pred > 0) & real).sum().item()
            fn += ((pred != y) & (y > 0)).sum().item()
    print(f"epoch {epoch} loss {running / n:.4f} entity f1 {2 * tp / max(1, 2 * tp + fp + fn):.4f}")
