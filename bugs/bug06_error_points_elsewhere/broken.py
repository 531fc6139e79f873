# %% tags=["parameters"]
seed = 0
learning_rate = 5e-5
batch_size = 16
num_labels = 3
steps = 60
checkpoint = "assets/distilbert-mini"
dataset = "assets/nli"
device = "lazy"

# %% [setup] imports, and paths relative to the project
import os
from pathlib import Path

import evaluate
import torch
from datasets import load_dataset
from torch.utils.data import DataLoader, RandomSampler
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, set_seed

here = Path(globals().get("__file__", "notebook.ipynb")).resolve()
os.chdir(next((p for p in here.parents if (p / "assets").is_dir()), "."))
set_seed(seed)
if device == "lazy":
    import torch._lazy.ts_backend

    torch._lazy.ts_backend.init()

# %% [data] premises and hypotheses, as token ids
path, _, config = dataset.partition(":")
raw_datasets = load_dataset(path, config or f"{num_labels}_labels")
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def preprocess(examples):
    return tokenizer(examples["premise"], examples["hypothesis"], truncation=True)


tokenized_datasets = raw_datasets.map(preprocess, batched=True)
tokenized_datasets = tokenized_datasets.remove_columns(["premise", "hypothesis", "idx"])
train_dataset = tokenized_datasets["train"]
eval_dataset = tokenized_datasets["validation_matched"].select(range(300))

# %% [batch] shuffled batches, padded to their longest row
collator = DataCollatorWithPadding(tokenizer)
sampler = RandomSampler(train_dataset, num_samples=steps * batch_size)
train_dataloader = DataLoader(train_dataset, batch_size, sampler=sampler, collate_fn=collator)
eval_dataloader = DataLoader(eval_dataset, batch_size=50, collate_fn=collator)

# %% [model] the pretrained encoder with a new classification head
model = AutoModelForSequenceClassification.from_pretrained(checkpoint).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)

# %% [training] a short run
model.train()
for step, batch in enumerate(train_dataloader):
    loss = model(**batch.to(device)).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 10 == 9:
        print(f"step {step + 1}: loss {loss.item():.4f}")

# %% [evaluation] accuracy on pairs the model has not seen
metric = evaluate.load("assets/accuracy")
model.eval()
for batch in eval_dataloader:
    with torch.no_grad():
        logits = model(**batch.to(device)).logits
    metric.add_batch(predictions=logits.argmax(dim=-1), references=batch["labels"])
metrics = metric.compute()
print(metrics)
