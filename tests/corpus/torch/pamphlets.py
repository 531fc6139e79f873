import random
import torch
from torch import nn
from torch.utils.data import DataLoader

random.seed(0)
torch.manual_seed(0)

TOPICS = [
    ["vote", "party", "council", "tax", "law", "minister"],
    ["goal", "league", "coach", "match", "striker", "stadium"],
    ["stock", "market", "profit", "bank", "shares", "merger"],
    ["chip", "software", "robot", "satellite", "laser", "network"],
]
PLAIN = [f"w{i}" for i in range(120)]
vocab = {w: i for i, w in enumerate(PLAIN + sum(TOPICS, []))}


def article():
    k = random.randrange(4)
    words = random.choices(PLAIN, k=random.randint(8, 25)) + random.choices(TOPICS[k], k=random.randint(2, 5))
    random.shuffle(words)
    return k, words


def collate_batch(batch):
    labels, tokens, offsets = [], [], [0]
    for label, words in batch:
        labels.append(label)
        ids = torch.tensor([vocab[w] for w in words])
        tokens.append(ids)
        offsets.append(len(ids))
    return torch.tensor(labels), torch.cat(tokens), torch.tensor(offsets[:-1]).cumsum(0)


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


train_iter = DataLoader([article() for _ in range(3000)], batch_size=64, shuffle=True, collate_fn=collate_batch)
test_iter = DataLoader([article() for _ in range(500)], batch_size=64, collate_fn=collate_batch)

model = TextClassificationModel(len(vocab), 64, 4)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)

for epoch in range(8):
    model.train()
    total = 0.0
    for label, text, offsets in train_iter:
        optimizer.zero_grad()
        loss = criterion(model(text, offsets), label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        total += loss.item()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        acc = sum((model(t, o).argmax(1) == y).sum().item() for y, t, o in test_iter) / 500
    print(f"epoch {epoch + 1} lr {scheduler.get_last_lr()[0]:.2f} loss {total / len(train_iter):.4f} acc {acc:.3f}")
