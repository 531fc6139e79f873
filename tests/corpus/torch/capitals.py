import random
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

random.seed(31)
torch.manual_seed(31)

NOUNS = ["ship", "queen", "market", "garden", "letter", "captain", "bridge", "winter"]
PLACES = ["oslo", "lima", "cairo", "quito", "dakar", "hanoi"]
VERBS = ["left", "saw", "found", "crossed", "sold"]
SMALL = ["the", "a", "in", "of", "and", "to", "after"]
vocab = {w: i + 1 for i, w in enumerate(NOUNS + PLACES + VERBS + SMALL)}
TAGS = {"noun": 0, "place": 1, "title": 2, "verb": 3, "small": 4}


def sentence():
    words, tags = [], []
    for _ in range(random.randint(3, 18)):
        r = random.random()
        if r < 0.3:
            words.append(random.choice(NOUNS)); tags.append("noun")
        elif r < 0.5:
            words += [random.choice(NOUNS), "of", random.choice(PLACES)]; tags += ["title", "small", "place"]
        elif r < 0.7:
            words.append(random.choice(VERBS)); tags.append("verb")
        else:
            words.append(random.choice(["the", "a", "in", "and", "to", "after"])); tags.append("small")
    return torch.tensor([vocab[w] for w in words]), torch.tensor([TAGS[t] for t in tags])


def token_budget_batches(rows, budget=600):
    rows = sorted(rows, key=lambda r: len(r[0]))
    batches, current = [], []
    for row in rows:
        if current and len(row[0]) * (len(current) + 1) > budget:
            batches.append(current)
            current = []
        current.append(row)
    batches.append(current)
    return [(pad_sequence([w for w, _ in b], True), pad_sequence([t for _, t in b], True, -1)) for b in batches]


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab) + 1, 32, padding_idx=0)
        self.conv = nn.Conv1d(32, 64, 5, padding=2)
        self.out = nn.Linear(64, len(TAGS))

    def forward(self, x):
        h = torch.relu(self.conv(self.emb(x).transpose(1, 2))).transpose(1, 2)
        return self.out(h)


train = token_budget_batches([sentence() for _ in range(1500)])
test = token_budget_batches([sentence() for _ in range(300)])
model = Tagger()
criterion = nn.CrossEntropyLoss(ignore_index=-1, reduction="sum")
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
ACCUM = 3

for epoch in range(6):
    model.train()
    if epoch > 0:
        random.shuffle(train)
    seen, total = 0, 0.0
    for start in range(0, len(train), ACCUM):
        group = train[start:start + ACCUM]
        tokens = sum(int((y != -1).sum()) for _, y in group)
        optimizer.zero_grad(set_to_none=True)
        for x, y in group:
            loss = criterion(model(x).flatten(0, 1), y.flatten()) / tokens
            loss.backward()
            total += loss.item() * tokens
        optimizer.step()
        seen += tokens
    model.eval()
    right = count = 0
    with torch.no_grad():
        for x, y in test:
            keep = y != -1
            right += (model(x).argmax(-1)[keep] == y[keep]).sum().item()
            count += int(keep.sum())
    print(f"epoch {epoch + 1} loss/token {total / seen:.4f} tag acc {right / count:.3f} batches {len(train)}")
