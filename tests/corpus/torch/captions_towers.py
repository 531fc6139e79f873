import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

COLORS = {"red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0), "white": (1, 1, 1)}
PLACES = {"top left": (0, 0), "top right": (0, 8), "bottom left": (8, 0), "bottom right": (8, 8)}
SIZES = {"small": 3, "large": 7}
WORDS = ["<pad>", "a", "square", "at", "the", "there", "is"] + list(COLORS) + list(SIZES) + ["top", "bottom", "left", "right"]
W2I = {w: i for i, w in enumerate(WORDS)}


class Scenes(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        r = random.Random(seed)
        self.rows = []
        for _ in range(n):
            c, p, s = r.choice(list(COLORS)), r.choice(list(PLACES)), r.choice(list(SIZES))
            img = 0.1 * torch.randn(3, 16, 16, generator=torch.Generator().manual_seed(r.randrange(10 ** 9)))
            y, x = PLACES[p]
            y, x = y + r.randint(0, 8 - SIZES[s]), x + r.randint(0, 8 - SIZES[s])
            img[:, y:y + SIZES[s], x:x + SIZES[s]] += torch.tensor(COLORS[c]).float()[:, None, None]
            text = r.choice([f"a {s} {c} square at the {p}", f"there is a {c} square {s} {p}"])
            self.rows.append((img, torch.tensor([W2I[w] for w in text.split()]), text and (c, p, s)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    keys = {k: i for i, k in enumerate(dict.fromkeys(r[2] for r in rows))}
    ids = nn.utils.rnn.pad_sequence([r[1] for r in rows], batch_first=True)
    return {"pixels": torch.stack([r[0] for r in rows]), "ids": ids, "groups": torch.tensor([keys[r[2]] for r in rows])}


class Towers(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.image = nn.Sequential(nn.Conv2d(3, 24, 3, 2, 1), nn.ReLU(), nn.Conv2d(24, 32, 3, 2, 1), nn.ReLU(),
                                   nn.Flatten(), nn.Linear(32 * 16, dim))
        self.text = nn.EmbeddingBag(len(WORDS), dim, mode="mean", padding_idx=0)
        self.project = nn.Linear(dim, dim)
        self.log_scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, pixels, ids):
        a = F.normalize(self.image(pixels), dim=-1)
        b = F.normalize(self.project(self.text(ids)), dim=-1)
        return a @ b.T * self.log_scale.exp().clamp(max=100)


class ContrastiveTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        sim = model(inputs["pixels"], inputs["ids"])
        same = inputs["groups"][:, None] == inputs["groups"][None]
        target = same.float() / same.sum(1, keepdim=True)
        loss = (F.cross_entropy(sim, target) + F.cross_entropy(sim.T, target)) / 2
        hit = same.gather(1, sim.argmax(1, keepdim=True)).float()
        return (loss, {"loss": loss, "hit": hit}) if return_outputs else loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        with torch.no_grad():
            loss, out = self.compute_loss(model, self._prepare_inputs(inputs), return_outputs=True)
        return loss, out["hit"], inputs["groups"]


set_seed(9)
args = TrainingArguments(
    output_dir="captions_out", num_train_epochs=8, per_device_train_batch_size=64, per_device_eval_batch_size=64,
    learning_rate=4e-3, weight_decay=0.05, remove_unused_columns=False, dataloader_drop_last=True,
    eval_strategy="epoch", logging_steps=20, save_strategy="no", report_to="none")
trainer = ContrastiveTrainer(model=Towers(), args=args, train_dataset=Scenes(2048, 1), eval_dataset=Scenes(256, 2),
                             data_collator=collate,
                             compute_metrics=lambda p: {"recall_at_1": float(np.mean(p.predictions))})
trainer.train()
print(trainer.evaluate())
