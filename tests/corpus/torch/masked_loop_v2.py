from pathlib import Path

import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
raw = load_dataset(str(assets / "nli"), "3_labels")


def collate(rows):
    batch = tokenizer([r["premise"] for r in rows], [r["hypothesis"] for r in rows], padding=True, truncation=True,
                      return_tensors="pt")
    return batch, torch.tensor([r["label"] for r in rows])


loader = DataLoader(raw["train"], batch_size=16, shuffle=True, collate_fn=collate)
model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
model.train()
for step, (inputs, labels) in enumerate(loader):
    output = model(**inputs, labels=labels)
    output.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 20 == 0:
        print(step, output.loss.item())
    if step == 140:
        break
