"""Slot filling for travel requests with a small BERT."""
import random
import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForTokenClassification, get_linear_schedule_with_warmup

random.seed(7)
torch.manual_seed(7)
cities = "oslo lima cairo delhi porto quito seoul turin perth dakar".split()
days = "monday tuesday wednesday thursday friday saturday sunday".split()
lines = "nordair sunwings bluejet alpina".split()
tags = ["O", "CITY", "DAY", "AIRLINE"]


def sample():
    parts = [[("from", "O"), (random.choice(cities), "CITY")], [("to", "O"), (random.choice(cities), "CITY")]]
    if random.random() < 0.7:
        parts.append([("on", "O"), (random.choice(days), "DAY")])
    if random.random() < 0.5:
        parts.append([("with", "O"), (random.choice(lines), "AIRLINE")])
    random.shuffle(parts)
    head = random.choice(["i want a flight", "show me flights", "book a ticket please", "any seat"])
    return [(w, "O") for w in head.split()] + [p for part in parts for p in part]


sentences = [sample() for _ in range(1800)]
vocab = {"[PAD]": 0, "[UNK]": 1}
for s in sentences[:1500]:
    for w, _ in s:
        vocab.setdefault(w, len(vocab))


def collate(batch):
    n = max(len(s) for s in batch)
    ids, mask, labels = [], [], []
    for s in batch:
        pad = n - len(s)
        ids.append([vocab.get(w, 1) for w, _ in s] + [0] * pad)
        mask.append([1] * len(s) + [0] * pad)
        labels.append([tags.index(t) for _, t in s] + [-100] * pad)
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": torch.tensor(labels)}


train_dl = DataLoader(sentences[:1500], batch_size=16, shuffle=True, collate_fn=collate)
valid_dl = DataLoader(sentences[1500:], batch_size=64, collate_fn=collate)

config = BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=32, num_labels=len(tags))
model = BertForTokenClassification(config)
num_epochs = 6
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
lr_scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=1, num_training_steps=num_epochs)

for epoch in range(num_epochs):
    model.train()
    train_loss = 0.0
    for batch in train_dl:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        lr_scheduler.step()
        optimizer.zero_grad()
        train_loss += loss.item()

    model.eval()
    right = slots = 0
    with torch.no_grad():
        for batch in valid_dl:
            pred = model(**batch).logits.argmax(-1)
            gold = batch["labels"]
            keep = gold > 0
            right += (pred[keep] == gold[keep]).sum().item()
            slots += keep.sum().item()
    print(f"epoch {epoch}  loss {train_loss / len(train_dl):.4f}  slot recall {right / slots:.3f}")
