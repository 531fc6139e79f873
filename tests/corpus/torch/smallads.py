import argparse
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, get_linear_schedule_with_warmup, set_seed)

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--effective_batch", type=int, default=1024)
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--seed", type=int, default=13)
args = parser.parse_args()
set_seed(args.seed)
rng = random.Random(args.seed)

SECTIONS = {
    "furniture": "table chair wardrobe oak drawers sofa shelf pine".split(),
    "vehicles": "bicycle van engine tyres mileage saddle gears caravan".split(),
    "pets": "kitten puppy cage feed vaccinated rabbit budgie leash".split(),
    "music": "piano guitar amplifier strings violin tuned drum bow".split(),
}
COMMON = "for sale good condition must go cheap offers near station call evenings nearly new small large old no time wasters".split()


def ad(section):
    words = rng.choices(COMMON, k=rng.randint(6, 14)) + rng.choices(SECTIONS[section], k=2)
    rng.shuffle(words)
    return " ".join(words)


names = list(SECTIONS)
rows = [(ad(s), names.index(s)) for s in rng.choices(names, k=1000)]
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]"] + sorted(set(COMMON + sum(SECTIONS.values(), []))))}
core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]",
                                    model_input_names=["input_ids", "attention_mask"])
data = Dataset.from_dict({"text": [t for t, _ in rows], "labels": [y for _, y in rows]})
data = data.map(lambda r: tokenizer(r["text"]), remove_columns="text").train_test_split(test_size=200, seed=1)
collate = DataCollatorWithPadding(tokenizer)
train_loader = DataLoader(data["train"], batch_size=args.batch_size, shuffle=True, collate_fn=collate)
test_loader = DataLoader(data["test"], batch_size=64, collate_fn=collate)

model = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=len(vocab), dim=48, hidden_dim=96, n_layers=2,
                                                             n_heads=4, max_position_embeddings=64, num_labels=len(names)))
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
accumulate = args.effective_batch // args.batch_size
updates = max(1, len(train_loader) // accumulate) * args.epochs
scheduler = get_linear_schedule_with_warmup(optimizer, int(0.1 * updates), updates)

for epoch in range(args.epochs):
    model.train()
    running = 0.0
    optimizer.zero_grad()
    for step, batch in enumerate(train_loader):
        loss = model(**batch).loss
        (loss / accumulate).backward()
        running += loss.item()
        if (step + 1) % accumulate == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    model.eval()
    hits = 0
    with torch.no_grad():
        for batch in test_loader:
            hits += (model(**batch).logits.argmax(-1) == batch["labels"]).sum().item()
    print(f"epoch {epoch}: loss {running / len(train_loader):.4f}  accuracy {hits / len(data['test']):.3f}")
