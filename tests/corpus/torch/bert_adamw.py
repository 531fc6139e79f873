from pathlib import Path

import torch
from datasets import load_dataset
from transformers import AdamW, AutoModelForSequenceClassification, AutoTokenizer

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
tok = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
model = AutoModelForSequenceClassification.from_pretrained(assets / "distilbert-mini", num_labels=3)
rows = load_dataset(str(assets / "nli"), "3_labels", split="train")
optimizer = AdamW(model.parameters(), lr=5e-5)
for i in range(0, 320, 16):
    part = rows[i:i + 16]
    batch = tok(part["premise"], part["hypothesis"], padding=True, return_tensors="pt")
    loss = model(**batch, labels=torch.tensor(part["label"])).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(i, loss.item())
