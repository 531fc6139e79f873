"""GPT-2 style language model over recipe steps, word-level tokenizer with role markers."""
import math
import random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

random.seed(2)
torch.manual_seed(2)

verbs = {"chop": ["onion", "carrot", "leek"], "boil": ["pasta", "rice", "egg"],
         "fry": ["bacon", "tofu", "egg"], "bake": ["bread", "cake", "potato"]}
tools = {"chop": "knife", "boil": "pot", "fry": "pan", "bake": "oven"}


def step():
    v = random.choice(list(verbs))
    return f"{v} the {random.choice(verbs[v])} using the {tools[v]} for {random.randint(2, 9)} minutes"


texts = [" then ".join(step() for _ in range(random.randint(1, 3))) for _ in range(1500)]
train_texts, val_texts = texts[:1300], texts[1300:]

raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(train_texts, trainers.WordLevelTrainer(special_tokens=["<unk>"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>")

config = GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=None, eos_token_id=None)
model = GPT2LMHeadModel(config)

tokenizer.add_special_tokens({"bos_token": "<recipe>", "eos_token": "</recipe>", "pad_token": "<pad>"})
print("tokenizer size", len(tokenizer))
model.config.pad_token_id = tokenizer.pad_token_id


def collate(batch):
    wrapped = [f"{tokenizer.bos_token} {t} {tokenizer.eos_token}" for t in batch]
    enc = tokenizer(wrapped, padding=True, truncation=True, max_length=64, return_tensors="pt")
    labels = enc["input_ids"].masked_fill(enc["attention_mask"] == 0, -100)
    return {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"], "labels": labels}


train_loader = DataLoader(train_texts, batch_size=32, shuffle=True, collate_fn=collate)
val_loader = DataLoader(val_texts, batch_size=50, collate_fn=collate)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

for epoch in range(4):
    model.train()
    for i, batch in enumerate(train_loader):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"epoch {epoch} last batch loss {loss.item():.4f}")

model.eval()
nll, n = 0.0, 0
with torch.no_grad():
    for batch in val_loader:
        k = (batch["labels"][:, 1:] != -100).sum().item()
        nll += model(**batch).loss.item() * k
        n += k
print(f"validation loss {nll / n:.4f}  perplexity {math.exp(nll / n):.2f}  uniform {len(tokenizer)}")
