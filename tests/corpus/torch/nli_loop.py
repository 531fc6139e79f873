# Plain PyTorch fine-tuning on the three-label NLI set.
# Memory on my laptop only allows 4 pairs at a time -> accumulate to an effective batch of 32.
import torch
from datasets import load_dataset
from torch.optim import AdamW
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, get_scheduler, set_seed

BATCH, ACCUM, EPOCHS, LR = 4, 8, 1, 5e-5

set_seed(23)
tokenizer = AutoTokenizer.from_pretrained("assets/distilbert-mini")
raw = load_dataset("assets/nli", "3_labels")
raw = raw.map(
    lambda b: tokenizer(b["premise"], b["hypothesis"], truncation=True, max_length=96),
    batched=True, remove_columns=["premise", "hypothesis", "idx"],
).rename_column("label", "labels")
collate = DataCollatorWithPadding(tokenizer)
train_loader = DataLoader(raw["train"], batch_size=BATCH, shuffle=True, collate_fn=collate)
valid_loader = DataLoader(raw["validation_matched"], batch_size=50, collate_fn=collate)

model = AutoModelForSequenceClassification.from_pretrained("assets/distilbert-mini", num_labels=3)

no_decay = ("bias", "LayerNorm.weight", "layer_norm.weight")
optimizer = AdamW([
    {"params": [p for n, p in model.named_parameters() if not n.endswith(no_decay)], "weight_decay": 0.01},
    {"params": [p for n, p in model.named_parameters() if n.endswith(no_decay)], "weight_decay": 0.0},
], lr=LR)

updates = EPOCHS * len(train_loader) // ACCUM
scheduler = get_scheduler("linear", optimizer, num_warmup_steps=updates // 10, num_training_steps=updates)
print(f"{len(train_loader)} micro batches per epoch, {updates} updates in all")


def accuracy():
    model.eval()
    right = n = 0
    with torch.no_grad():
        for batch in valid_loader:
            guess = model(**batch).logits.argmax(-1)
            right += (guess == batch["labels"]).sum().item()
            n += len(guess)
    model.train()
    return right / n


model.train()
for epoch in range(EPOCHS):
    running = 0.0
    for i, batch in enumerate(train_loader, start=1):
        loss = model(**batch).loss
        (loss / ACCUM).backward()
        running += loss.item()
        if i % ACCUM == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
        if i % 50 == 0:
            print(f"epoch {epoch} batch {i}: loss {running / 50:.3f}")
            running = 0.0
    print(f"epoch {epoch}: validation accuracy {accuracy():.3f}")
