import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from datasets import Dataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(11)
rng = np.random.default_rng(11)
COUNTRIES = ["stripes", "cross", "disc", "frame"]


def draw(kind):
    img = rng.normal(0, 0.25, (16, 16)).astype(np.float32)
    a, b = rng.integers(3, 6), rng.integers(6, 10)
    if kind == 0:
        img[a::4] += 1.0
    elif kind == 1:
        img[b] += 1.0
        img[:, b] += 1.0
    elif kind == 2:
        yy, xx = np.mgrid[:16, :16]
        img[(yy - b) ** 2 + (xx - b) ** 2 < a * a] += 1.0
    else:
        img[a, a:-a] += 1.0
        img[-a, a:-a] += 1.0
        img[a:-a, a] += 1.0
        img[a:-a, -a] += 1.0
    return img


def collection(n):
    kinds = rng.integers(0, 4, n).tolist()
    return Dataset.from_dict({"image": [draw(k).tolist() for k in kinds], "label": kinds})


class StampNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.fc = nn.Linear(24 * 4 * 4, n_classes)

    def forward(self, image, label=None):
        x = image.unsqueeze(1)
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        logits = self.fc(x.flatten(1))
        loss = None
        if label is not None:
            loss = F.cross_entropy(logits, label)
        return {"loss": loss, "logits": logits}


train_ds, test_ds = collection(1200), collection(300)

args = TrainingArguments(
    output_dir="stamps_out",
    num_train_epochs=5,
    per_device_train_batch_size=32,
    learning_rate=2e-3,
    lr_scheduler_type="cosine",
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=20,
    report_to="none",
)
trainer = Trainer(
    model=StampNet(len(COUNTRIES)),
    args=args,
    train_dataset=train_ds,
    eval_dataset=test_ds,
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
)
trainer.train()
print(trainer.evaluate())
