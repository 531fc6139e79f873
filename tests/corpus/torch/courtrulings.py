import random

import torch
from torch.utils.data import Dataset
from transformers import RobertaConfig, RobertaForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(13)
TERMS = {"tax": ["levy", "revenue", "deduction"], "family": ["custody", "divorce", "alimony"],
         "labour": ["wages", "dismissal", "union"]}
NAMES = list(TERMS)
COMMON = "the court finds that appellant under section of act and costs judgment was".split()
WORDS = ["<s>", "<pad>", "</s>"] + COMMON + sum(TERMS.values(), [])
IDS = {w: i for i, w in enumerate(WORDS)}


def write_ruling():
    k = random.randrange(3)
    n = random.randint(20, 90)
    words = [random.choice(TERMS[NAMES[k]]) if random.random() < 0.2 else random.choice(COMMON) for _ in range(n)]
    return words, k


class Rulings(Dataset):
    def __init__(self, n):
        self.rows = [write_ruling() for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, k = self.rows[i]
        ids = [0] + [IDS[w] for w in words] + [2]
        return {"input_ids": ids, "labels": k}


def collate(batch):
    longest = max(len(b["input_ids"]) for b in batch)
    ids = torch.full((len(batch), longest), 1)
    for i, b in enumerate(batch):
        ids[i, :len(b["input_ids"])] = torch.tensor(b["input_ids"])
    return {"input_ids": ids, "attention_mask": (ids != 1).long(), "labels": torch.tensor([b["labels"] for b in batch])}


model = RobertaForSequenceClassification(RobertaConfig(
    vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
    max_position_embeddings=66, pad_token_id=1, num_labels=3))
args = TrainingArguments("rulings_out", num_train_epochs=7, per_device_train_batch_size=16, learning_rate=2e-3,
                         logging_steps=20, save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model, args, data_collator=collate, train_dataset=Rulings(480), eval_dataset=Rulings(96),
                  compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())})
trainer.train()
print(trainer.evaluate())
