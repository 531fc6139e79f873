"""Supervised contrastive embedding of handwritten digits, judged by its nearest neighbours."""
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from torch import nn
from torch.utils.data import TensorDataset
from transformers import Trainer, TrainingArguments, set_seed


class Embedder(nn.Module):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.temperature = temperature
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(512, 3, bias=False))

    def forward(self, image, digit):
        z = nn.functional.normalize(self.net(image), dim=-1)
        sim = z @ z.T / self.temperature
        self_pair = torch.eye(len(z), dtype=torch.bool, device=z.device)
        log_p = sim.masked_fill(self_pair, -1e9).log_softmax(dim=1)
        positive = (digit[:, None] == digit[None, :]) & ~self_pair
        per_row = -(log_p * positive).sum(1) / positive.sum(1).clamp(min=1)
        return {"loss": per_row.mean(), "embedding": z}


def collate(rows):
    image, digit = zip(*rows)
    return {"image": torch.stack(image), "digit": torch.stack(digit)}


def neighbours(p):
    knn = KNeighborsClassifier(n_neighbors=4).fit(p.predictions, p.label_ids)
    _, idx = knn.kneighbors(p.predictions)
    agree = p.label_ids[idx[:, 1:]] == p.label_ids[:, None]
    return {"precision_at_3": float(np.mean(agree))}


set_seed(8)
digits = load_digits()
x = torch.tensor(digits.images[:, None] / 16, dtype=torch.float32)
xa, xb, ya, yb = train_test_split(x, torch.tensor(digits.target), test_size=400, random_state=8)

trainer = Trainer(
    model=Embedder(),
    args=TrainingArguments(
        output_dir=tempfile.mkdtemp(), per_device_train_batch_size=100, per_device_eval_batch_size=100,
        num_train_epochs=20, learning_rate=3e-3, lr_scheduler_type="cosine", dataloader_drop_last=True,
        label_names=["digit"], remove_unused_columns=False, logging_steps=26, save_strategy="no", report_to="none"),
    train_dataset=TensorDataset(xa, ya), eval_dataset=TensorDataset(xb, yb),
    data_collator=collate, compute_metrics=neighbours)
print("before:", trainer.evaluate())
trainer.train()
print("after:", trainer.evaluate())
