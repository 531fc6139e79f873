"""Slot tagger for travel requests; word vectors are fixed, small batches are accumulated."""
import copy
import random
import torch
from torch import nn

TAGS = ["O", "FROM", "TO", "DAY"]
CITIES = "oslo rome paris lima cairo delhi tokyo porto quito bern".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
CHAT = "please could you find me something cheap or whatever works i need well so ok then thanks a lot".split()
VOCAB = {w: i + 1 for i, w in enumerate(CITIES + DAYS + sorted(set(CHAT)) + ["from", "to", "on", "flight"])}
ACCUMULATE = 4


def request(rng):
    pairs = [(w, 0) for w in rng.choices(CHAT, k=rng.randint(6, 14))] + [("flight", 0)]
    pieces = [[("from", 0), (rng.choice(CITIES), 1)], [("to", 0), (rng.choice(CITIES), 2)]]
    rng.shuffle(pieces)
    if rng.random() < 0.5:
        pieces.append([("on", 0), (rng.choice(DAYS), 3)])
    for p in pieces:
        pairs += p
    pairs += [(w, 0) for w in rng.choices(CHAT, k=rng.randint(2, 6))]
    return [VOCAB[w] for w, _ in pairs], [t for _, t in pairs]


def pad(rows):
    n = max(len(r[0]) for r in rows)
    x = torch.tensor([r[0] + [0] * (n - len(r[0])) for r in rows])
    y = torch.tensor([r[1] + [-100] * (n - len(r[1])) for r in rows])
    return x, y


class Tagger(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors, freeze=True, padding_idx=0)
        self.rnn = nn.LSTM(vectors.shape[1], 32, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.2)
        self.tag = nn.Linear(64, len(TAGS))

    def forward(self, x):
        lengths = (x != 0).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.words(x), lengths, batch_first=True, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.tag(self.drop(h))


def slot_f1(net, x, y):
    was = net.training
    net.eval()
    with torch.no_grad():
        pred = net(x).argmax(-1)
    net.train(was)
    ok = y != -100
    hit = ((pred == y) & (y > 0) & ok).sum().item()
    said, true = ((pred > 0) & ok).sum().item(), (y > 0).sum().item()
    return 2 * hit / max(said + true, 1)


rng = random.Random(5)
torch.manual_seed(5)
vectors = torch.randn(len(VOCAB) + 1, 40)
vectors[0] = 0
train = [request(rng) for _ in range(800)]
dev, test = (pad([request(rng) for _ in range(200)]) for _ in range(2))
net = Tagger(vectors)
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.5, momentum=0.9)
best, best_state, waited = -1.0, None, 0
for epoch in range(30):
    rng.shuffle(train)
    net.train()
    groups = [train[i:i + 8] for i in range(0, len(train), 8)]
    total = 0.0
    for k, rows in enumerate(groups, 1):
        x, y = pad(rows)
        loss = nn.functional.cross_entropy(net(x).transpose(1, 2), y, ignore_index=-100)
        (loss / ACCUMULATE).backward()
        total += loss.item()
        if k % ACCUMULATE == 0:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
    f1 = slot_f1(net, *dev)
    print(f"epoch {epoch} loss {total / len(groups):.4f} dev slot F1 {f1:.3f}")
    if f1 > best + 1e-4:
        best, best_state, waited = f1, copy.deepcopy(net.state_dict()), 0
    else:
        waited += 1
        if waited >= 3:
            break
net.load_state_dict(best_state)
x, y = test
share = (y == 0).sum().item() / (y != -100).sum().item()
print(f"test slot F1 {slot_f1(net, x, y):.3f} (all-O tagger: F1 0.000, token accuracy {share:.3f})")
