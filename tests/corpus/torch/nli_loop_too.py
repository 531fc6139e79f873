"""Fine-tune the small DistilBERT on three-way NLI with a hand-written loop."""
import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    get_linear_schedule_with_warmup,
    set_seed,
)

set_seed(4)
CKPT = "assets/distilbert-mini"
EPOCHS, BATCH, LR = 2, 32, 1e-4

nli = load_dataset("assets/nli", "3_labels")
tok = AutoTokenizer.from_pretrained(CKPT)
model = AutoModelForSequenceClassification.from_pretrained(CKPT, num_labels=3)


def encode(batch):
    ids = tok(batch["premise"], batch["hypothesis"], truncation=True, max_length=64)["input_ids"]
    return {"ids": ids}


nli = nli.map(encode, batched=True)


def collate(rows):
    longest = max(len(r["ids"]) for r in rows)
    ids = torch.full((len(rows), longest), tok.pad_token_id)
    for i, r in enumerate(rows):
        ids[i, : len(r["ids"])] = torch.tensor(r["ids"])
    padding_mask = ids == tok.pad_token_id
    return {
        "input_ids": ids,
        "attention_mask": padding_mask.long(),
        "labels": torch.tensor([r["label"] for r in rows]),
    }


train_dl = DataLoader(nli["train"].shuffle(seed=4).select(range(1900)), BATCH, shuffle=True, collate_fn=collate)
dev_dl = DataLoader(nli["validation_matched"], BATCH, collate_fn=collate)

optim = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.01)
total = EPOCHS * len(train_dl)
sched = get_linear_schedule_with_warmup(optim, int(0.1 * total), total)

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for batch in train_dl:
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        sched.step()
        optim.zero_grad()
        running += loss.item()

    model.eval()
    right = n = 0
    with torch.no_grad():
        for batch in dev_dl:
            guess = model(**batch).logits.argmax(-1)
            right += (guess == batch["labels"]).sum().item()
            n += len(guess)
    print(f"epoch {epoch + 1}: train loss {running / len(train_dl):.4f}, dev accuracy {right / n:.3f}")
