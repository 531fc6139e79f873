# fine-tuning without the Trainer
import sys
from pathlib import Path

import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding,
                          get_linear_schedule_with_warmup)

base = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
lr = float(sys.argv[1]) if len(sys.argv) > 1 else 1e-4
torch.manual_seed(17)

tokenizer = AutoTokenizer.from_pretrained(base / "distilbert-mini")
raw = load_dataset(str(base / "nli"), "3_labels")
encoded = raw.map(lambda b: tokenizer(b["premise"], b["hypothesis"], truncation=True, max_length=128), batched=True)
encoded = encoded.remove_columns(["premise", "hypothesis", "idx"]).rename_column("label", "labels")
collator = DataCollatorWithPadding(tokenizer)
train_dl = DataLoader(encoded["train"], batch_size=16, shuffle=True, collate_fn=collator)
eval_dl = DataLoader(encoded["validation_matched"].select(range(160)), batch_size=32, collate_fn=collator)

model = AutoModelForSequenceClassification.from_pretrained(base / "distilbert-mini", num_labels=3)
no_decay = ["bias", "LayerNorm.weight"]
groups = [
    {"params": [p for n, p in model.named_parameters() if not any(k in n for k in no_decay)], "weight_decay": 0.01},
    {"params": [p for n, p in model.named_parameters() if any(k in n for k in no_decay)], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=lr)
total = 150
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=15, num_training_steps=total)

done = 0
while done < total:
    model.train()
    for batch in train_dl:
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        done += 1
        if done % 50 == 0:
            model.eval()
            right = 0
            for held in eval_dl:
                with torch.no_grad():
                    right += (model(**held).logits.argmax(-1) == held["labels"]).sum().item()
            print(done, loss.item(), right / 160)
            model.train()
        if done >= total:
            break
