from pathlib import Path
import random

import torch
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir())
random.seed(0)
torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained(ROOT / "assets/distilbert-mini")
model = AutoModelForSequenceClassification.from_pretrained(ROOT / "assets/distilbert-mini", num_labels=2)
data = load_dataset(str(ROOT / "assets/nli"), "2_labels")
rows = [(r["premise"], r["hypothesis"], r["label"]) for r in data["train"]]

optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
model.train()
for step in range(120):
    picked = random.sample(rows, 16)
    inputs = tokenizer([p for p, _, _ in picked], [h for _, h, _ in picked], padding=True, truncation=True, return_tensors="pt")
    labels = torch.tensor([label for _, _, label in picked])
    loss = model(**inputs, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
