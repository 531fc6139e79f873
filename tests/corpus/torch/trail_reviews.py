"""Sort hiking-trail reviews into difficulty levels with a small GPT-2 body and an own head."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2Model, get_linear_schedule_with_warmup

random.seed(17)
torch.manual_seed(17)

LEVELS = {
    "easy": "flat stroller paved toddlers gentle benches shade".split(),
    "medium": "rolling roots stairs sweaty rocky ridge boots".split(),
    "hard": "scramble exposed cables vertigo summit exhausting chains".split(),
}
FILLER = ("we walked the path in morning it was a nice view over lake and trees parking near start "
          "with dog my wife would come again very many people there").split()
WORDS = ["<bos>"] + sorted({w for ws in LEVELS.values() for w in ws} | set(FILLER))
INDEX = {w: i for i, w in enumerate(WORDS)}
LENGTH = 24


def review(level):
    strong = LEVELS[list(LEVELS)[level]]
    words = [random.choice(strong) if random.random() < 0.25 else random.choice(FILLER) for _ in range(LENGTH - 1)]
    return [INDEX["<bos>"]] + [INDEX[w] for w in words], level


def collate(rows):
    return torch.tensor([ids for ids, _ in rows]), torch.tensor([level for _, level in rows])


class TrailClassifier(nn.Module):
    def __init__(self, labels):
        super().__init__()
        config = GPT2Config(vocab_size=len(WORDS), n_positions=LENGTH, n_embd=64, n_layer=2, n_head=4,
                            bos_token_id=0, eos_token_id=0)
        self.body = GPT2Model(config)
        self.drop = nn.Dropout(0.1)
        self.classifier = nn.Linear(config.n_embd, labels)

    def forward(self, input_ids):
        hidden = self.body(input_ids=input_ids).last_hidden_state
        pooled = hidden[:, 0]
        return self.classifier(self.drop(pooled))


data = [review(i % 3) for i in range(1500)]
random.shuffle(data)
train = DataLoader(data[:1200], batch_size=24, shuffle=True, collate_fn=collate)
valid = DataLoader(data[1200:], batch_size=100, collate_fn=collate)

model = TrailClassifier(len(LEVELS))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
epochs = 5
scheduler = get_linear_schedule_with_warmup(optimizer, 20, epochs * len(train))
loss_fn = nn.CrossEntropyLoss()

for epoch in range(epochs):
    model.train()
    running = 0.0
    for ids, level in train:
        loss = loss_fn(model(ids), level)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        hits = sum((model(ids).argmax(-1) == level).sum().item() for ids, level in valid)
    print(f"epoch {epoch + 1}: loss {running / len(train):.3f}, valid accuracy {hits / 300:.3f}")
