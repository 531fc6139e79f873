import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

set_seed(8)
rng = np.random.default_rng(8)
SIZE = 24
yy, xx = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2


def dial(pressure):
    """A round gauge; the needle turns through 270 degrees while the pressure goes from -1 to 1."""
    angle = pressure * 0.75 * np.pi - np.pi / 2
    along = xx * np.cos(angle) + yy * np.sin(angle)
    across = np.abs(-xx * np.sin(angle) + yy * np.cos(angle))
    img = 0.8 * ((along > 0) & (along < 9) & (across < 1.2)) + 0.3 * (np.abs(np.hypot(xx, yy) - 10.5) < 0.8)
    img = img + 0.05 * rng.standard_normal(img.shape)
    return ((img - 0.1) / 0.25).astype(np.float32)[None]


class Gauges(Dataset):
    def __init__(self, n):
        self.pressure = rng.uniform(-1, 1, n).astype(np.float32)
        self.images = torch.from_numpy(np.stack([dial(p) for p in self.pressure]))

    def __len__(self):
        return len(self.pressure)

    def __getitem__(self, i):
        return {"pixel_values": self.images[i], "labels": float(self.pressure[i])}


class GaugeTrainer(Trainer):
    """Readings near both ends of the scale matter most to the plant, so they weigh more."""

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        outputs = model(pixel_values=inputs["pixel_values"])
        weight = 1.0 + labels.abs()
        error = outputs.logits - labels
        loss = (weight * error.pow(2)).mean()
        return (loss, outputs) if return_outputs else loss


def metrics(p):
    reading, truth = p.predictions.reshape(-1), p.label_ids.reshape(-1)
    return {"mae": float(np.abs(reading - truth).mean()),
            "r2": float(1 - ((reading - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())}


model = ViTForImageClassification(ViTConfig(image_size=SIZE, patch_size=4, num_channels=1, hidden_size=64,
                                            num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                                            num_labels=1))
trainer = GaugeTrainer(
    model=model,
    args=TrainingArguments("out/needle", num_train_epochs=12, learning_rate=1e-3, warmup_ratio=0.1,
                           per_device_train_batch_size=32, per_device_eval_batch_size=100, eval_strategy="epoch",
                           logging_steps=40, save_strategy="no", report_to="none", use_cpu=True),
    train_dataset=Gauges(1200), eval_dataset=Gauges(300), compute_metrics=metrics,
)
trainer.train()
print(trainer.evaluate())
