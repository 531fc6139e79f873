"""Sentiment of short product reviews, small BERT trained from scratch in a hand-written loop."""
import random
import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification

random.seed(4)
torch.manual_seed(4)

GOOD = "great lovely sturdy perfect fast excellent handy bright".split()
BAD = "broken awful slow cheap noisy useless faulty dim".split()
FILL = ("the it this lamp kettle chair phone was is and really very after week box arrived "
        "colour price bought my for with on delivery").split()
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]", "[SEP]", "[UNK]"] + GOOD + BAD + FILL)}
MAX_LEN = 64


def make_review():
    label = random.randint(0, 1)
    n_fill = random.randint(3, 9)
    major, minor = (GOOD, BAD) if label else (BAD, GOOD)
    words = random.choices(FILL, k=n_fill) + random.choices(major, k=2) + random.choices(minor, k=1)
    random.shuffle(words)
    return " ".join(words), label


def encode(text):
    ids = [VOCAB["[CLS]"]] + [VOCAB.get(w, 3) for w in text.split()] + [VOCAB["[SEP]"]]
    return ids[:MAX_LEN]


def pad(batch_ids, length):
    ids = torch.tensor([s + [0] * (length - len(s)) for s in batch_ids])
    return ids, (ids != 0).long()


def collate(rows):
    seqs = [encode(t) for t, _ in rows]
    ids, mask = pad(seqs, max(len(s) for s in seqs))
    return {"input_ids": ids, "attention_mask": mask,
            "labels": torch.tensor([l for _, l in rows])}


train_rows = [make_review() for _ in range(3000)]
test_rows = [make_review() for _ in range(500)]

config = BertConfig(vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2,
                    num_attention_heads=4, intermediate_size=128,
                    max_position_embeddings=MAX_LEN, num_labels=2)
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(train_rows, batch_size=32, shuffle=True, collate_fn=collate)

for epoch in range(4):
    model.train()
    running = 0.0
    for batch in loader:
        out = model(**batch)
        optimizer.zero_grad()
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += out.loss.item()
    print(f"epoch {epoch} train loss {running / len(loader):.4f}")


@torch.no_grad()
def predict(texts, batch_size=50):
    model.eval()
    found = []
    for i in range(0, len(texts), batch_size):
        ids, mask = pad([encode(t) for t in texts[i:i + batch_size]], MAX_LEN)
        logits = model(input_ids=ids, attention_mask=mask).logits
        found += logits.argmax(-1).tolist()
    return found


gold = [l for _, l in test_rows]
pred = predict([t for t, _ in test_rows])
acc = sum(p == g for p, g in zip(pred, gold)) / len(gold)
print("test accuracy", round(acc, 3), "majority", max(sum(gold), len(gold) - sum(gold)) / len(gold))
print("predicted positive share", sum(pred) / len(pred))
