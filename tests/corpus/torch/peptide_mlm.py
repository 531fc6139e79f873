"""Masked-residue pretraining on made-up peptides built from a bank of motifs."""
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments, set_seed

AA = "ACDEFGHIKLMNPQRSTVWY"
PAD, CLS, MASK = 0, 1, 2
OFFSET = 3
SEED = 5


class PeptideDataset(Dataset):
    def __init__(self, n, bank, seed):
        g = np.random.default_rng(seed)
        self.items = []
        for _ in range(n):
            parts = [bank[g.integers(len(bank))] for _ in range(g.integers(3, 6))]
            seq = np.concatenate(parts)
            noise = g.random(len(seq)) < 0.03
            seq = np.where(noise, g.integers(0, 20, len(seq)), seq)
            self.items.append(np.concatenate([[CLS], seq + OFFSET]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return {"input_ids": self.items[i]}


@dataclass
class ResidueMasker:
    prob: float = 0.15

    def __call__(self, examples):
        width = max(len(e["input_ids"]) for e in examples)
        ids = torch.full((len(examples), width), PAD, dtype=torch.long)
        for row, e in enumerate(examples):
            ids[row, : len(e["input_ids"])] = torch.as_tensor(e["input_ids"])
        attention = (ids != PAD).long()
        chosen = (torch.rand(ids.shape) < self.prob) & (ids >= OFFSET)
        labels = ids
        ids[chosen] = MASK
        labels = torch.where(chosen, labels, torch.full_like(labels, -100))
        return {"input_ids": ids, "attention_mask": attention, "labels": labels}


@torch.no_grad()
def recover(model, dataset, n=300):
    """Hide one residue at a time and see whether the model puts the true one back."""
    model.eval()
    g = np.random.default_rng(99)
    hits = 0
    for i in range(n):
        ids = torch.as_tensor(dataset[i]["input_ids"])[None].clone()
        pos = int(g.integers(1, ids.shape[1]))
        truth = int(ids[0, pos])
        ids[0, pos] = MASK
        logits = model(input_ids=ids).logits[0, pos]
        hits += int(logits[OFFSET:].argmax()) + OFFSET == truth
    return hits / n


set_seed(SEED)
bank_rng = np.random.default_rng(0)
bank = [bank_rng.integers(0, 20, 7) for _ in range(10)]
train_set = PeptideDataset(3000, bank, 1)
valid_set = PeptideDataset(400, bank, 2)

cfg = BertConfig(
    vocab_size=OFFSET + len(AA), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=48, pad_token_id=PAD,
    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
)
model = BertForMaskedLM(cfg)

training_args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    num_train_epochs=7,
    learning_rate=2e-3,
    lr_scheduler_type="cosine",
    warmup_steps=60,
    logging_steps=100,
    save_strategy="no",
    eval_strategy="epoch",
    report_to="none",
    disable_tqdm=True,
    use_cpu=True,
    seed=SEED,
)
trainer = Trainer(
    model=model,
    args=training_args,
    train_dataset=train_set,
    eval_dataset=valid_set,
    data_collator=ResidueMasker(0.15),
)
trainer.train()
metrics = trainer.evaluate()
print("eval loss %.4f" % metrics["eval_loss"])
print("residue recovery on held-out peptides: %.3f" % recover(model, valid_set))
