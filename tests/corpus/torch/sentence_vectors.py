"""Sentence vectors by contrast: a statement must be closer to the text it follows from than to all other texts in the batch."""
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModel, AutoTokenizer, get_linear_schedule_with_warmup

TEMPERATURE = 0.05
set_seed(3)
accelerator = Accelerator(cpu=True)
tokenizer = AutoTokenizer.from_pretrained("assets/distilbert-mini")


def entailed(split):
    ds = load_dataset("assets/nli", "3_labels", split=split)
    return ds.filter(lambda r: r["label"] == 0).remove_columns(["label", "idx"])


def collate(rows):
    texts = tokenizer([r["premise"] for r in rows], padding=True, truncation=True, max_length=64, return_tensors="pt")
    statements = tokenizer([r["hypothesis"] for r in rows], padding=True, truncation=True, max_length=64, return_tensors="pt")
    return texts, statements


train = DataLoader(entailed("train"), batch_size=32, shuffle=True, drop_last=True, collate_fn=collate)
test = DataLoader(entailed("validation_matched"), batch_size=150, collate_fn=collate)


class Encoder(torch.nn.Module):
    def __init__(self, checkpoint):
        super().__init__()
        self.bert = AutoModel.from_pretrained(checkpoint)

    def forward(self, enc):
        hidden = self.bert(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"]).last_hidden_state
        mask = enc["attention_mask"].unsqueeze(-1).float()
        return F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


model = Encoder("assets/distilbert-mini")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
EPOCHS = 5
scheduler = get_linear_schedule_with_warmup(optimizer, 10, EPOCHS * len(train))
model, optimizer, train, test, scheduler = accelerator.prepare(model, optimizer, train, test, scheduler)


def recall_at_one():
    model.eval()
    with torch.no_grad():
        texts, statements = next(iter(test))
        similar = model(statements) @ model(texts).T
    return (similar.argmax(1) == torch.arange(len(similar))).float().mean().item()


print(f"before: {recall_at_one():.3f}")
for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for texts, statements in train:
        a, b = model(statements), model(texts)
        similar = a @ b.T / TEMPERATURE
        target = torch.arange(len(similar), device=similar.device)
        loss = (F.cross_entropy(similar, target) + F.cross_entropy(similar.T, target)) / 2
        accelerator.backward(loss)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(train):.3f}, recall@1 of 150 texts {recall_at_one():.3f}")
