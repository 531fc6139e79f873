import random
import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2Model, get_cosine_schedule_with_warmup

random.seed(1)
torch.manual_seed(1)
good = "lovely great crisp charming superb tasty friendly quick".split()
bad = "awful bland rude slow greasy dirty noisy stale".split()
things = "soup staff room breakfast coffee service pasta view bar music dessert lobby".split()
fill = "the was and we found it really rather quite overall today again".split()


def review():
    label = random.randint(0, 1)
    words = []
    for _ in range(random.randint(3, 6)):
        own, other = (good, bad) if label else (bad, good)
        mood = random.choice(own) if random.random() < 0.85 else random.choice(other)
        words += [random.choice(fill), random.choice(things), random.choice(fill), mood]
    return " ".join(words), label


data = [review() for _ in range(2400)]
train, test = data[:2000], data[2000:]
vocab = {w: i for i, w in enumerate(["<pad>", "<s>", "<unk>"] + sorted({w for t, _ in train for w in t.split()}))}


def collate(rows):
    ids = [[vocab["<s>"]] + [vocab.get(w, 2) for w in t.split()] for t, _ in rows]
    n = max(map(len, ids))
    input_ids = torch.tensor([r + [0] * (n - len(r)) for r in ids])
    mask = torch.tensor([[1] * len(r) + [0] * (n - len(r)) for r in ids])
    return {"input_ids": input_ids, "attention_mask": mask}, torch.tensor([l for _, l in rows])


class GPTClassifier(nn.Module):
    def __init__(self, num_labels=2):
        super().__init__()
        self.backbone = GPT2Model(GPT2Config(vocab_size=len(vocab), n_positions=64, n_embd=64, n_layer=2, n_head=4))
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(64, num_labels)

    def forward(self, input_ids, attention_mask):
        hidden = self.backbone(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        pooled = hidden[:, 0]
        return self.classifier(self.dropout(pooled))


train_loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test, batch_size=64, collate_fn=collate)
model = GPTClassifier()
epochs = 5
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.01)
scheduler = get_cosine_schedule_with_warmup(optimizer, 20, epochs * len(train_loader))
criterion = nn.CrossEntropyLoss()

for epoch in range(epochs):
    model.train()
    total = 0.0
    for batch, labels in train_loader:
        loss = criterion(model(**batch), labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        hits = sum((model(**b).argmax(-1) == l).sum().item() for b, l in test_loader)
    print(f"epoch {epoch + 1}: train loss {total / len(train_loader):.4f}, test accuracy {hits / len(test):.3f}")
