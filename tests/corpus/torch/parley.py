import random
import numpy as np
import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification, set_seed
from sklearn.metrics import accuracy_score

set_seed(3)

TOPICS = {
    "greeting": ["hello", "hi", "morning", "hey", "welcome", "evening"],
    "weather": ["rain", "sunny", "forecast", "wind", "umbrella", "storm"],
    "music": ["play", "song", "volume", "album", "guitar", "radio"],
    "travel": ["train", "ticket", "hotel", "flight", "map", "luggage"],
}
FILLER = ["please", "can", "you", "the", "for", "me", "is", "there", "some", "what", "now", "tell"]
names = list(TOPICS)
words = FILLER + [w for ws in TOPICS.values() for w in ws]
word2id = {w: i + 3 for i, w in enumerate(words)}
CLS, SEP = 1, 2


def build(n):
    rows = []
    for _ in range(n):
        label = random.randrange(len(names))
        toks = random.choices(FILLER, k=random.randint(2, 7)) + random.choices(TOPICS[names[label]], k=2)
        random.shuffle(toks)
        rows.append({"input_ids": [CLS] + [word2id[t] for t in toks] + [SEP], "label": label})
    return rows


def collate_fn(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for i, r in enumerate(rows):
        ids[i, :len(r["input_ids"])] = torch.tensor(r["input_ids"])
        mask[i, :len(r["input_ids"])] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([r["label"] for r in rows])}


train_dataloader = DataLoader(build(1000), batch_size=32, shuffle=True, collate_fn=collate_fn)
eval_dataloader = DataLoader(build(200), batch_size=50, collate_fn=collate_fn)

config = BertConfig(vocab_size=len(words) + 3, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=32, num_labels=len(names))
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

for epoch in range(4):
    model.train()
    losses = []
    for batch in train_dataloader:
        outputs = model(**batch)
        outputs.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(outputs.loss.item())

    model.eval()
    all_preds, all_labels = [], []
    for batch in eval_dataloader:
        with torch.no_grad():
            outputs = model(**batch)
        predictions = outputs.logits
        all_preds.extend(predictions.numpy())
        all_labels.extend(batch["labels"].numpy())
    acc = accuracy_score(all_labels, all_preds)
    print(f"epoch {epoch}: loss {np.mean(losses):.4f} accuracy {acc:.3f}")
