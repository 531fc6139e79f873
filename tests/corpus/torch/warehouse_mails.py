"""Route warehouse e-mails to one of five desks with a small RoBERTa."""
import random

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import RobertaConfig, RobertaForSequenceClassification

random.seed(3)
torch.manual_seed(3)

MAX_LEN = 48
DESKS = {
    "returns": "return refund damaged scratched replacement label".split(),
    "shipping": "carrier pallet tracking delayed dock truck".split(),
    "invoices": "invoice payment overdue amount vat account".split(),
    "stock": "inventory shelf count missing barcode reorder".split(),
    "staff": "shift overtime holiday rota sick training".split(),
}
COMMON = ("hello dear team please the a we our is was on for with this that today yesterday again about "
          "could you check thanks regards order number it has been since monday").split()


def compose(desk):
    n = random.randint(20, 60)
    return " ".join(random.choice(DESKS[desk]) if random.random() < 0.2 else random.choice(COMMON) for _ in range(n))


class Vocab:
    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.index = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
        for w in words:
            self.index[w] = len(self.index)

    def encode(self, text):
        ids = [self.index.get(w, 3) for w in text.split()][: MAX_LEN - 2]
        return [0] + ids + [2]


class Mails(Dataset):
    def __init__(self, rows, vocab):
        self.rows = [(vocab.encode(t), y) for t, y in rows]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(ids) for ids, _ in rows)
    ids = torch.full((len(rows), width), 1)
    for i, (seq, _) in enumerate(rows):
        ids[i, : len(seq)] = torch.tensor(seq)
    return {"input_ids": ids, "attention_mask": (ids != 1).long(), "labels": torch.tensor([y for _, y in rows])}


desks = list(DESKS)
rows = [(compose(desks[i % 5]), i % 5) for i in range(1200)]
random.shuffle(rows)
vocab = Vocab([t for t, _ in rows])
train = DataLoader(Mails(rows[:1000], vocab), batch_size=16, shuffle=True, collate_fn=collate)
test = DataLoader(Mails(rows[1000:], vocab), batch_size=50, collate_fn=collate)

config = RobertaConfig(
    vocab_size=len(vocab.index),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    max_position_embeddings=MAX_LEN,
    num_labels=len(desks),
)
model = RobertaForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)

for epoch in range(5):
    model.train()
    total = 0.0
    for batch in train:
        out = model(**batch)
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
        total += out.loss.item()
    model.eval()
    hits = 0
    with torch.no_grad():
        for batch in test:
            hits += (model(**batch).logits.argmax(-1) == batch["labels"]).sum().item()
    print(f"epoch {epoch + 1} loss {total / len(train):.3f} test acc {hits / 200:.3f}")
