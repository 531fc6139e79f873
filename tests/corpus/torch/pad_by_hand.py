import random
from pathlib import Path

import torch
from datasets import load_dataset
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import AutoModelForTokenClassification, AutoTokenizer

assets = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
random.seed(0)
torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained(assets / "distilbert-mini")
rows = load_dataset(str(assets / "nli"), "2_labels", split="train").select(range(800))
examples = []
for text in rows["premise"]:
    ids = tokenizer(text)["input_ids"]
    tags = [-100] + [int(len(tokenizer.decode([i])) > 4) for i in ids[1:-1]] + [-100]
    examples.append({"input_ids": torch.tensor(ids), "labels": torch.tensor(tags)})


def collate(batch):
    padded = {}
    for key in ("input_ids", "labels"):
        padded[key] = pad_sequence([row[key] for row in batch], batch_first=True, padding_value=-100)
    padded["attention_mask"] = (padded["labels"] != -100).long()
    return padded


loader = DataLoader(examples, batch_size=16, shuffle=True, collate_fn=collate)
model = AutoModelForTokenClassification.from_pretrained(assets / "distilbert-mini", num_labels=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
for step, batch in enumerate(loader):
    loss = model(**batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
