import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

set_seed(4)
SPECIES = ["stripe_across", "stripe_along", "dotted", "plain"]


def draw_beetle(kind, rng):
    img = rng.normal(0.0, 0.12, (3, 32, 32)).astype(np.float32)
    yy, xx = np.mgrid[:32, :32]
    phase = rng.uniform(0, 6.28)
    if kind == 0:
        pattern = np.sin(yy * 1.2 + phase)
    elif kind == 1:
        pattern = np.sin(xx * 1.2 + phase)
    elif kind == 2:
        pattern = np.sin(xx * 1.2 + phase) * np.sin(yy * 1.2 + phase)
    else:
        pattern = np.full((32, 32), rng.uniform(-0.3, 0.3))
    img += 0.8 * pattern
    return img


class Beetles(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, len(SPECIES), n)
        self.x = np.stack([draw_beetle(k, rng) for k in self.y])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], int(self.y[i])


def collate(batch):
    images, ids = zip(*batch)
    return {"pixel_values": torch.tensor(np.stack(images)), "targets": torch.tensor(ids)}


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


config = ViTConfig(image_size=32, patch_size=8, num_channels=3, hidden_size=64, num_hidden_layers=2,
                   num_attention_heads=4, intermediate_size=128, num_labels=len(SPECIES),
                   id2label=dict(enumerate(SPECIES)), label2id={s: i for i, s in enumerate(SPECIES)})
model = ViTForImageClassification(config)

args = TrainingArguments(
    output_dir="beetles_out",
    per_device_train_batch_size=32,
    num_train_epochs=8,
    learning_rate=1e-3,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=20,
    remove_unused_columns=False,
    report_to="none",
)

trainer = Trainer(model=model, args=args, train_dataset=Beetles(800, 1), eval_dataset=Beetles(200, 2),
                  data_collator=collate, compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
