import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, set_seed

set_seed(0)


class DigitsDataset(torch.utils.data.Dataset):
    def __init__(self, images, target):
        self.images = torch.tensor(images / 16.0, dtype=torch.float32).unsqueeze(1)
        self.target = torch.tensor(target, dtype=torch.long)

    def __len__(self):
        return len(self.target)

    def __getitem__(self, idx):
        return {"pixel_values": self.images[idx], "labels": self.target[idx]}


class SmallConvNet(nn.Module):
    """Not a PreTrainedModel, just a module that returns a dict with loss and logits."""

    def __init__(self, num_labels=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.SiLU(),
            nn.Conv2d(16, 32, 3, padding=1, stride=2), nn.GroupNorm(4, 32), nn.SiLU(),
        )
        self.classifier = nn.Linear(32 * 4 * 4, num_labels)
        self.loss_fct = nn.CrossEntropyLoss(label_smoothing=0.1)

    def forward(self, pixel_values, labels=None):
        logits = self.classifier(self.features(pixel_values).flatten(1))
        if labels is None:
            return {"logits": logits}
        return {"loss": self.loss_fct(logits, labels), "logits": logits}


def compute_metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=-1) == p.label_ids).mean())}


digits = load_digits()
x_train, x_rest, y_train, y_rest = train_test_split(digits.images, digits.target, test_size=0.3, random_state=0, stratify=digits.target)
x_val, x_test, y_val, y_test = train_test_split(x_rest, y_rest, test_size=0.5, random_state=0, stratify=y_rest)

args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    per_device_train_batch_size=4,
    gradient_accumulation_steps=4,
    per_device_eval_batch_size=128,
    learning_rate=2e-3,
    warmup_steps=40,
    lr_scheduler_type="cosine",
    num_train_epochs=8,
    eval_strategy="epoch",
    save_strategy="epoch",
    save_total_limit=1,
    load_best_model_at_end=True,
    metric_for_best_model="accuracy",
    logging_steps=40,
    report_to="none",
)

trainer = Trainer(
    model=SmallConvNet(),
    args=args,
    train_dataset=DigitsDataset(x_train, y_train),
    eval_dataset=DigitsDataset(x_val, y_val),
    compute_metrics=compute_metrics,
    callbacks=[EarlyStoppingCallback(early_stopping_patience=3)],
)
trainer.train()
print(trainer.evaluate(DigitsDataset(x_test, y_test), metric_key_prefix="test"))
