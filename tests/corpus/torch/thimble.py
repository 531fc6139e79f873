import random

import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForTokenClassification, get_linear_schedule_with_warmup

random.seed(8)
torch.manual_seed(8)
UNITS = ["gram", "cup", "spoon", "litre"]
FOODS = ["flour", "sugar", "milk", "butter", "rice", "oil", "salt"]
VERBS = ["add", "mix", "pour", "weigh"]
LABELS = ["O", "QTY", "UNIT", "FOOD"]
words = ["[PAD]"] + UNITS + FOODS + VERBS + ["of", "then", "and", "the"] + [str(i) for i in range(1, 20)]
w2i = {w: i for i, w in enumerate(words)}


def step():
    out = [(random.choice(VERBS), 0)]
    for k in range(random.randint(1, 3)):
        if k:
            out.append(("and", 0))
        if random.random() < 0.7:
            out += [(str(random.randint(1, 19)), 1), (random.choice(UNITS), 2), ("of", 0)]
        else:
            out.append(("the", 0))
        out.append((random.choice(FOODS), 3))
    if random.random() < 0.3:
        # a number that is no quantity
        out += [("then", 0), (random.choice(VERBS), 0), (str(random.randint(1, 19)), 0)]
    return out


def collate(rows):
    width = max(map(len, rows))
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    labels = torch.full_like(ids, -100)
    for r, row in enumerate(rows):
        ids[r, :len(row)] = torch.tensor([w2i[w] for w, _ in row])
        labels[r, :len(row)] = torch.tensor([t for _, t in row])
        mask[r, :len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


train = DataLoader([step() for _ in range(1200)], batch_size=32, shuffle=True, collate_fn=collate)
test = DataLoader([step() for _ in range(200)], batch_size=64, collate_fn=collate)
config = BertConfig(vocab_size=len(words), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=40, num_labels=len(LABELS))
model = BertForTokenClassification(config)
epochs = 5
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
sched = get_linear_schedule_with_warmup(opt, 20, epochs * len(train))
for epoch in range(epochs):
    model.train()
    total = 0.0
    for batch in train:
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        opt.zero_grad()
        total += loss.item()
    model.eval()
    ok = n = 0
    with torch.no_grad():
        for batch in test:
            pred = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits.argmax(-1)
            real = batch["labels"] != -100
            ok += (pred == batch["labels"])[real].sum().item()
            n += real.sum().item()
    print(f"epoch {epoch} loss {total / len(train):.4f} token accuracy {ok / n:.4f}")
