import random
import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2Model

random.seed(1)
torch.manual_seed(1)

GOOD = "great wonderful moving funny brilliant charming superb touching".split()
BAD = "dull awful boring clumsy terrible flat annoying weak".split()
FILL = "the movie plot acting was and i thought a bit really with its music cast scenes story director".split()


def make_review():
    label = random.randint(0, 1)
    words = random.choices(FILL, k=random.randint(5, 14))
    for w in random.sample(GOOD if label else BAD, 2):
        words.insert(random.randint(0, len(words)), w)
    return " ".join(words), label


vocab = {w: i + 2 for i, w in enumerate(sorted(GOOD + BAD + FILL))}
PAD, BOS = 0, 1


def collate(rows):
    ids = [[BOS] + [vocab[w] for w in text.split()] for text, _ in rows]
    n = max(map(len, ids))
    mask = torch.tensor([[1] * len(r) + [0] * (n - len(r)) for r in ids])
    ids = torch.tensor([r + [PAD] * (n - len(r)) for r in ids])
    return ids, mask, torch.tensor([y for _, y in rows])


class ReviewClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        config = GPT2Config(vocab_size=len(vocab) + 2, n_positions=32, n_embd=64, n_layer=2, n_head=4,
                            bos_token_id=BOS, eos_token_id=BOS)
        self.gpt = GPT2Model(config)
        self.drop = nn.Dropout(0.1)
        self.classifier = nn.Linear(64, 2)

    def forward(self, ids, mask):
        hidden = self.gpt(input_ids=ids, attention_mask=mask).last_hidden_state
        pooled = hidden[:, 0]
        return self.classifier(self.drop(pooled))


train = [make_review() for _ in range(1600)]
valid = [make_review() for _ in range(400)]
train_loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
valid_loader = DataLoader(valid, batch_size=64, collate_fn=collate)

model = ReviewClassifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
criterion = nn.CrossEntropyLoss()

for epoch in range(4):
    model.train()
    total = 0.0
    for ids, mask, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(ids, mask), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for ids, mask, y in valid_loader:
            correct += (model(ids, mask).argmax(1) == y).sum().item()
    print(f"epoch {epoch + 1}: train loss {total / len(train_loader):.4f}  valid acc {correct / len(valid):.3f}")
