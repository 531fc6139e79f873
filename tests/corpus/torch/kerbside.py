import random

import torch
from accelerate import Accelerator
from sklearn.metrics import classification_report, f1_score
from torch.utils.data import DataLoader
from transformers import RobertaConfig, RobertaForSequenceClassification, get_linear_schedule_with_warmup, set_seed

set_seed(21)

TOPICS = {
    "bins": ["bin", "rubbish", "collection", "bags", "recycling", "overflowing"],
    "parking": ["car", "van", "permit", "meter", "blocked", "bay"],
    "lights": ["lamp", "dark", "flicker", "bulb", "post", "lit"],
    "potholes": ["hole", "tarmac", "tyre", "crack", "repair", "surface"],
}
COMMON = "the street is again my house please since monday outside still very on near for and".split()
names = list(TOPICS)
vocab = {"<s>": 0, "<pad>": 1, "</s>": 2}
for w in COMMON + [w for ws in TOPICS.values() for w in ws]:
    vocab.setdefault(w, len(vocab))


def complaint():
    y = random.randrange(4)
    ws = [random.choice(COMMON) for _ in range(random.randint(5, 10))]
    ws += [random.choice(TOPICS[names[y]]) for _ in range(2)]
    ws += [random.choice(TOPICS[random.choice(names)])]
    random.shuffle(ws)
    return [0] + [vocab[w] for w in ws] + [2], y


def collate(batch):
    longest = max(len(x) for x, _ in batch)
    ids = torch.tensor([x + [1] * (longest - len(x)) for x, _ in batch])
    return {"input_ids": ids, "attention_mask": (ids != 1).long(), "labels": torch.tensor([y for _, y in batch])}


train_loader = DataLoader([complaint() for _ in range(1500)], batch_size=32, shuffle=True, collate_fn=collate)
eval_loader = DataLoader([complaint() for _ in range(400)], batch_size=64, shuffle=True, collate_fn=collate)

config = RobertaConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=128, max_position_embeddings=32, num_labels=4)
model = RobertaForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

epochs = 5
accelerator = Accelerator(cpu=True)
model, optimizer, train_loader, eval_loader = accelerator.prepare(model, optimizer, train_loader, eval_loader)
scheduler = get_linear_schedule_with_warmup(optimizer, 20, epochs * len(train_loader))

for epoch in range(epochs):
    model.train()
    total = 0
    for batch in train_loader:
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        total += loss.item()

    model.eval()
    with torch.no_grad():
        preds = torch.cat([model(input_ids=b["input_ids"], attention_mask=b["attention_mask"]).logits.argmax(-1)
                           for b in eval_loader])
    truth = torch.cat([b["labels"] for b in eval_loader])
    print(f"epoch {epoch} loss {total / len(train_loader):.3f} f1 {f1_score(truth, preds, average='macro'):.3f}")

print(classification_report(truth, preds, target_names=names))
