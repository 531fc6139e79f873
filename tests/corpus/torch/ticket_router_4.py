import random

import torch
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertForSequenceClassification, get_linear_schedule_with_warmup

SEED = 11
random.seed(SEED)
torch.manual_seed(SEED)

TOPICS = {
    "billing": "invoice refund charge card payment receipt price tax".split(),
    "network": "router cable signal wifi latency outage modem drop".split(),
    "account": "password login email locked profile reset username code".split(),
    "delivery": "parcel courier late address tracking box depot doorstep".split(),
}
FILLER = "please hello the my is a it was again since monday help thanks i you with and for still not".split()
NAMES = list(TOPICS)
WORDS = ["[PAD]", "[CLS]"] + sorted(set(FILLER) | {w for ws in TOPICS.values() for w in ws})
IDX = {w: i for i, w in enumerate(WORDS)}


def make_ticket():
    label = random.randrange(len(NAMES))
    other = random.choice([k for k in range(len(NAMES)) if k != label])
    words = random.choices(TOPICS[NAMES[label]], k=3) + random.choices(TOPICS[NAMES[other]], k=1)
    words += random.choices(FILLER, k=random.randint(6, 16))
    random.shuffle(words)
    return ["[CLS]"] + words, label


def collate(items):
    longest = max(len(w) for w, _ in items)
    ids = torch.zeros(len(items), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for r, (words, _) in enumerate(items):
        ids[r, :len(words)] = torch.tensor([IDX[w] for w in words])
        mask[r, :len(words)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([l for _, l in items])}


train_dl = DataLoader([make_ticket() for _ in range(2400)], batch_size=24, shuffle=True, collate_fn=collate)
dev_dl = DataLoader([make_ticket() for _ in range(600)], batch_size=100, collate_fn=collate)

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(WORDS), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
    max_position_embeddings=32, num_labels=len(NAMES)))

EPOCHS = 6
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
total = EPOCHS * len(train_dl)
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=total // 10, num_training_steps=total)


def dev_accuracy():
    model.eval()
    hit = n = 0
    with torch.no_grad():
        for batch in dev_dl:
            pred = model(**batch).logits.argmax(-1)
            hit += (pred == batch["labels"]).sum().item()
            n += len(pred)
    return hit / n


for epoch in range(EPOCHS):
    model.train()
    seen = 0.0
    for batch in train_dl:
        optimizer.zero_grad()
        out = model(**batch)
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen += out.loss.item()
    scheduler.step()
    print(f"epoch {epoch + 1}/{EPOCHS} loss {seen / len(train_dl):.3f} dev {dev_accuracy():.3f}")
