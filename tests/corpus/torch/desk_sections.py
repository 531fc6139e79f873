import random
import torch
from torch import nn
from torch.utils.data import DataLoader

random.seed(0)
torch.manual_seed(0)

words = {
    0: "goal striker league referee match coach penalty keeper cup season".split(),
    1: "bank shares market profit inflation loan investor budget export price".split(),
    2: "vaccine virus doctor hospital patient clinic nurse therapy dose symptom".split(),
    3: "rocket orbit telescope planet lunar launch satellite comet probe galaxy".split(),
}
filler = "the a of in on said today after new more first two over with from week people year report city".split()


def make_text(y):
    toks = [random.choice(filler) for _ in range(random.randint(4, 25))]
    toks += [random.choice(words[y]) for _ in range(random.randint(1, 3))]
    toks += [random.choice(words[random.randrange(4)])]
    random.shuffle(toks)
    return toks


data = [(y, make_text(y)) for y in (random.randrange(4) for _ in range(3000))]
vocab = {w: i for i, w in enumerate(sorted({w for _, t in data for w in t}))}


def collate_batch(batch):
    labels, texts, offsets = [], [], [0]
    for y, toks in batch:
        labels.append(y)
        texts += [vocab[w] for w in toks]
        offsets.append(len(toks))
    offsets = torch.tensor(offsets[:-1]).cumsum(dim=0)
    return torch.tensor(labels), torch.tensor(texts), offsets


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, sparse=False)
        self.fc = nn.Linear(embed_dim, num_class)
        self.embedding.weight.data.uniform_(-0.5, 0.5)
        self.fc.weight.data.uniform_(-0.5, 0.5)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


train_dl = DataLoader(data[:2500], batch_size=16, shuffle=True, collate_fn=collate_batch)
test_dl = DataLoader(data[2500:], batch_size=16, collate_fn=collate_batch)
model = TextClassificationModel(len(vocab), 64, 4)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)

for epoch in range(8):
    model.train()
    total = 0
    for label, text, offsets in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(text, offsets), label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        total += loss.item()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(text, offsets).argmax(1) == label).sum().item() for label, text, offsets in test_dl)
    print(f"epoch {epoch} loss {total / len(train_dl):.3f} accuracy {right / 500:.3f}")
