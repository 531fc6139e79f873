import random
import torch
import torch.nn as nn
from torch.utils.data import DataLoader

random.seed(0)
torch.manual_seed(0)

ASPECTS = {
    "delivery": ["parcel", "courier", "late", "arrived", "box", "shipping", "tracking", "driver"],
    "quality": ["broke", "solid", "cheap", "sturdy", "material", "scratch", "finish", "seam"],
    "price": ["expensive", "bargain", "refund", "cost", "paid", "discount", "worth", "money"],
    "support": ["phone", "agent", "reply", "email", "helpdesk", "waited", "polite", "ticket"],
}
FILLER = "the a it was very and but i my to of for this with not so we had is on".split()
CLASSES = list(ASPECTS)


def make_review():
    label = random.randrange(4)
    toks = random.choices(FILLER, k=random.randint(6, 20))
    toks += random.choices(ASPECTS[CLASSES[label]], k=random.randint(2, 4))
    if random.random() < 0.5:
        toks.append(random.choice(ASPECTS[random.choice(CLASSES)]))
    random.shuffle(toks)
    return " ".join(toks), label


train, test = [make_review() for _ in range(3000)], [make_review() for _ in range(600)]
vocab = {"<unk>": 0}
for text, _ in train:
    for w in text.split():
        vocab.setdefault(w, len(vocab))


def collate(batch):
    ids, offsets, labels = [], [], []
    for text, label in batch:
        offsets.append(len(ids))
        ids += [vocab.get(w, 0) for w in text.split()]
        labels.append(label)
    return torch.tensor(ids), torch.tensor(offsets), torch.tensor(labels)


class TextNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(len(vocab), 32, mode="mean")
        self.fc = nn.Linear(32, len(CLASSES))

    def forward(self, ids, offsets):
        return self.fc(self.bag(ids, offsets))


train_dl = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
test_dl = DataLoader(test, batch_size=128, collate_fn=collate)
model, crit = TextNet(), nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    model.train()
    tot = 0
    for ids, off, y in train_dl:
        opt.zero_grad()
        loss = crit(model(ids, off), y)
        loss.backward()
        opt.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        good = sum((model(i, o).argmax(1) == y).sum().item() for i, o, y in test_dl)
    print(f"epoch {epoch} loss {tot / len(train_dl):.3f} test acc {good / len(test):.3f}")
