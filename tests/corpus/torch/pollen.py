import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

SIZE = 20


def grains(n, n_species, seed):
    """Each species has a number of spikes around the grain and a ring of its own width."""
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
    radius, angle = np.hypot(yy, xx), np.arctan2(yy, xx)
    labels = g.integers(0, n_species, n)
    images = np.empty((n, 1, SIZE, SIZE), dtype=np.float32)
    for i, k in enumerate(labels):
        edge = 5.5 + 1.6 * np.cos((2 + k) * (angle + g.uniform(0, 2 * np.pi)))
        images[i, 0] = (radius < edge) * g.uniform(0.6, 1.2) + g.normal(0, 0.2, radius.shape)
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))


def collate(rows):
    return {"pixel_values": torch.stack([r[0] for r in rows]), "labels": torch.stack([r[1] for r in rows])}


class PollenNet(nn.Module):
    def __init__(self, n_species):
        super().__init__()
        layers, c = [], 1
        for out in (16, 32, 48):
            layers += [nn.Conv2d(c, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(), nn.MaxPool2d(2)]
            c = out
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(c, n_species)

    def forward(self, pixel_values, labels=None):
        logits = self.head(self.body(pixel_values))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


class UnfreezeAfter(TrainerCallback):
    def __init__(self, epochs):
        self.epochs = epochs

    def on_epoch_begin(self, args, state, control, model=None, **kwargs):
        if state.epoch is not None and state.epoch >= self.epochs:
            set_trainable(model.body, True)


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def training_args(epochs, lr):
    return TrainingArguments(output_dir="pollen_out", num_train_epochs=epochs, learning_rate=lr, seed=2,
                             per_device_train_batch_size=32, eval_strategy="epoch", save_strategy="no",
                             logging_steps=40, remove_unused_columns=False, report_to="none")


set_seed(2)
model = PollenNet(2)
Trainer(model, training_args(2, 2e-3), train_dataset=grains(600, 2, 0), eval_dataset=grains(200, 2, 1),
        data_collator=collate, compute_metrics=accuracy).train()

print("transfer to six species")
model.head = nn.Linear(48, 6)
set_trainable(model.body, False)
trainer = Trainer(model, training_args(8, 3e-3), train_dataset=grains(1200, 6, 2), eval_dataset=grains(400, 6, 3),
                  data_collator=collate, compute_metrics=accuracy, callbacks=[UnfreezeAfter(2)])
trainer.train()
print(trainer.evaluate())
