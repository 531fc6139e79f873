"""Keys of the same blank should lie close together: a small transformer over cut depths, every pair of a batch pulled or pushed."""
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, Sampler
from transformers import BertConfig, BertModel, Trainer, TrainingArguments, set_seed

CUTS, DEPTHS, BLANKS = 10, 12, 24


def pairwise(x):
    diff = x[:, None, :] - x[None, :, :]
    return (diff ** 2).sum(-1).sqrt()


class KeyRing(Dataset):
    def __init__(self, per_blank, seed):
        base = np.random.default_rng(99).integers(1, DEPTHS, (BLANKS, CUTS))
        rng = np.random.default_rng(seed)
        self.y = np.repeat(np.arange(BLANKS), per_blank)
        self.x = base[self.y].copy()
        for row in self.x:
            for spot in rng.choice(CUTS, 3, replace=False):
                row[spot] = rng.integers(1, DEPTHS)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": torch.tensor(self.x[i]), "labels": int(self.y[i])}


class BlanksTimesKeys(Sampler):
    """Six blanks, four keys of each, per batch."""

    def __init__(self, labels, blanks=6, keys=4, batches=50, seed=0):
        self.where = {b: np.flatnonzero(labels == b).tolist() for b in np.unique(labels)}
        self.blanks, self.keys, self.batches, self.rng = blanks, keys, batches, random.Random(seed)

    def __iter__(self):
        for _ in range(self.batches):
            for b in self.rng.sample(sorted(self.where), self.blanks):
                yield from self.rng.sample(self.where[b], self.keys)

    def __len__(self):
        return self.batches * self.blanks * self.keys


class Embedder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.body = BertModel(BertConfig(vocab_size=DEPTHS, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                         intermediate_size=128, max_position_embeddings=CUTS,
                                         hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0), add_pooling_layer=False)
        self.out = nn.Linear(64, dim)

    def forward(self, input_ids, labels=None):
        return self.out(self.body(input_ids).last_hidden_state.mean(1))


class PairTrainer(Trainer):
    margin = 4.0

    def _get_train_sampler(self, *a, **k):
        return BlanksTimesKeys(self.train_dataset.y)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        emb, y = model(inputs["input_ids"]), inputs["labels"]
        dist = pairwise(emb)
        same = y[:, None] == y[None, :]
        pull = dist[same].mean()
        push = torch.relu(self.margin - dist[~same]).mean()
        loss = pull + 2.0 * push
        return (loss, {"emb": emb}) if return_outputs else loss


def neighbours(model, bank, query):
    model.eval()
    with torch.no_grad():
        a, b = model(torch.tensor(bank.x)), model(torch.tensor(query.x))
    return float((bank.y[torch.cdist(b, a).argmin(1).numpy()] == query.y).mean())


set_seed(4)
train, held_out = KeyRing(30, 1), KeyRing(8, 2)
model = Embedder()
print("nearest key before:", neighbours(model, train, held_out))
args = TrainingArguments(output_dir="locksmith", num_train_epochs=10, per_device_train_batch_size=24,
                         learning_rate=2e-3, warmup_steps=30, logging_steps=50, save_strategy="no", report_to="none",
                         disable_tqdm=True)
trainer = PairTrainer(model=model, args=args, train_dataset=train)
trainer.train()
print("nearest key after:", neighbours(model, train, held_out))
