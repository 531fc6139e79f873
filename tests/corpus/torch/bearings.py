import tempfile

import numpy as np
import torch
from sklearn.metrics import mean_absolute_error, r2_score
from torch import nn
from torch.utils.data import TensorDataset
from transformers import Trainer, TrainingArguments, set_seed


def simulate(n, seed, steps=24, channels=3):
    g = np.random.default_rng(seed)
    wear = g.uniform(0, 1, size=n)
    t = np.arange(steps) / steps
    level = wear[:, None] * t[None] * 2
    x = np.stack(
        [
            level + 0.2 * g.normal(size=(n, steps)),
            np.sin(6.28 * t)[None] * (1 + wear[:, None]) + 0.2 * g.normal(size=(n, steps)),
            0.5 * g.normal(size=(n, steps)),
        ],
        axis=-1,
    )
    life = (1 - wear - 0.5) / 0.29
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(life, dtype=torch.float32))


class LifeModel(nn.Module):
    def __init__(self, channels=3, width=32):
        super().__init__()
        self.lift = nn.Linear(channels, width)
        self.place = nn.Parameter(torch.randn(1, 24, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1)
        self.out = nn.Linear(width, 1)

    def forward(self, windows, labels=None):
        h = self.blocks(self.lift(windows) + self.place)
        return {"logits": self.out(h.mean(dim=1))}


class LifeTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        life = inputs["labels"]
        outputs = model(inputs["windows"])
        error = outputs["logits"] - life
        small = error.abs() < 1.0
        loss = torch.where(small, 0.5 * error**2, error.abs() - 0.5).mean()
        return (loss, outputs) if return_outputs else loss


def gather(items):
    windows, life = zip(*items)
    return {"windows": torch.stack(windows), "labels": torch.stack(life)}


def compute_metrics(p):
    guess = p.predictions.reshape(-1)
    return {"r2": r2_score(p.label_ids, guess), "mae": mean_absolute_error(p.label_ids, guess)}


set_seed(12)
trainer = LifeTrainer(
    model=LifeModel(),
    args=TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=6,
        learning_rate=1e-3,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=25,
        report_to="none",
    ),
    train_dataset=simulate(2000, seed=1),
    eval_dataset=simulate(300, seed=2),
    data_collator=gather,
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
