import numpy as np
import torch
from sklearn.metrics import accuracy_score, f1_score
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

set_seed(3)
names = ["oak", "pine", "beech"]


def grain(kind, g):
    yy, xx = np.mgrid[0:24, 0:24] / 24.0
    phase = g.uniform(0, 2 * np.pi)
    if kind == 0:
        img = np.sin(2 * np.pi * 4 * xx + phase)
    elif kind == 1:
        img = np.sin(2 * np.pi * 4 * yy + phase)
    else:
        img = np.sin(2 * np.pi * 3 * np.hypot(xx - 0.5, yy - 0.5) * 2 + phase)
    return np.stack([img * s for s in (1.0, 0.7, 0.4)]) + g.normal(0, 0.3, (3, 24, 24))


class Planks(Dataset):
    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.y = g.integers(0, 3, n)
        self.x = torch.tensor(np.stack([grain(k, g) for k in self.y]), dtype=torch.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return {"pixel_values": self.x[idx], "labels": int(self.y[idx])}


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    return {
        "accuracy": accuracy_score(labels, predictions),
        "f1": f1_score(labels, predictions, average="macro"),
    }


model = ViTForImageClassification(ViTConfig(
    image_size=24, patch_size=6, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, num_labels=len(names)))

training_args = TrainingArguments(
    output_dir="vit-wood", per_device_train_batch_size=32, per_device_eval_batch_size=64, num_train_epochs=6,
    learning_rate=1e-3, eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
    remove_unused_columns=False, report_to="none")

trainer = Trainer(model=model, args=training_args, train_dataset=Planks(600, 0), eval_dataset=Planks(150, 1),
                  compute_metrics=compute_metrics)
trainer.train()
metrics = trainer.evaluate()
trainer.log_metrics("eval", metrics)
