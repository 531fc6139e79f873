"""Leaf disease from patch sequences: pretrained trunk kept frozen, head trained with a custom optimizer pair."""
import math
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

PATCH, DIM, N_PATCH = 16, 48, 12


class LeafPatches(Dataset):
    def __init__(self, n, seed, key="labels"):
        g = np.random.default_rng(seed)
        proto = np.random.default_rng(0).normal(size=(5, PATCH))
        self.y = g.integers(0, 5, n)
        x = g.normal(0, 1.0, (n, N_PATCH, PATCH))
        spots = np.argsort(g.random((n, N_PATCH)), axis=1)[:, :4]
        for i in range(n):
            x[i, spots[i]] += 0.9 * proto[self.y[i]]
        self.x = x.astype("float32")

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"patches": torch.from_numpy(self.x[i]), "labels": torch.tensor(self.y[i])}


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(PATCH, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 96, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1)
        self.back = nn.Linear(DIM, PATCH)

    def forward(self, patches):
        return self.enc(self.embed(patches))


def pretrain(trunk, data, epochs=4):
    opt = torch.optim.AdamW(trunk.parameters(), lr=2e-3)
    x = torch.from_numpy(data.x)
    for e in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(64):
            clean = x[idx]
            hide = torch.rand(clean.shape[:2]) < 0.25
            rec = trunk.back(trunk(clean.masked_fill(hide.unsqueeze(-1), 0.0)))
            loss = (rec - clean).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"pretrain {e}: {total / len(x):.3f}")


class Probe(nn.Module):
    def __init__(self, trunk):
        super().__init__()
        self.trunk = trunk.requires_grad_(False)
        self.norm = nn.LayerNorm(2 * DIM)
        self.head = nn.Sequential(nn.Linear(2 * DIM, 64), nn.ReLU(), nn.Linear(64, 5))

    def train(self, mode=True):
        super().train(mode)
        self.trunk.eval()
        return self

    def forward(self, patches, labels=None):
        with torch.no_grad():
            h = self.trunk(patches)
        logits = self.head(self.norm(torch.cat([h.mean(1), h.amax(1)], dim=-1)))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels, label_smoothing=0.05)
        return {"loss": loss, "logits": logits}


def main():
    set_seed(31)
    trunk = Trunk()
    pretrain(trunk, LeafPatches(3000, 5))
    model = Probe(trunk)
    train, test = LeafPatches(2000, 6), LeafPatches(600, 7)
    epochs, bs = 10, 50
    steps = epochs * math.ceil(len(train) / bs)
    opt = torch.optim.SGD([
        {"params": model.head.parameters(), "lr": 0.1},
        {"params": model.norm.parameters(), "lr": 0.02},
    ], momentum=0.9, nesterov=True)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=[0.1, 0.02], total_steps=steps + 1)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=epochs, per_device_train_batch_size=bs,
        per_device_eval_batch_size=200, eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
        report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(
        model=model, args=args, train_dataset=train, eval_dataset=test, optimizers=(opt, sched),
        compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())})
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
