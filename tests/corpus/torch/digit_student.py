"""Knowledge distillation with the Hugging Face Trainer.

150 labelled digits, the remaining training images without labels (-100).  A teacher ensemble is fitted on the
labelled ones; a small student learns from labels where there are any and from the teachers everywhere.
"""
import os

os.environ["USE_TF"] = "0"

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

N_LABELLED = 150
TEMPERATURE = 3.0
LABEL_WEIGHT = 0.3


def jitter(x):
    """Shift a batch of 8x8 images by up to one pixel and add noise."""
    dy, dx = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(F.pad(x, (1, 1, 1, 1)), (dy, dx), (-2, -1))[..., 1:-1, 1:-1] + 0.05 * torch.randn_like(x)


class Teacher(nn.Module):
    def __init__(self, w=24):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU(),
                                 nn.Conv2d(w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU(), nn.MaxPool2d(2),
                                 nn.Flatten(), nn.Dropout(0.4), nn.Linear(2 * w * 16, 10))

    def forward(self, x):
        return self.net(x)


class Student(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, pixel_values, labels=None):
        return {"logits": self.net(pixel_values)}


class Images(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"pixel_values": self.x[i], "labels": self.y[i]}


def fit_teacher(x, y, seed, epochs=60):
    torch.manual_seed(seed)
    net = Teacher()
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(50):
            loss = F.cross_entropy(net(jitter(x[idx])), y[idx], label_smoothing=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net.eval().requires_grad_(False)


class DistillTrainer(Trainer):
    def __init__(self, *args, teachers, **kwargs):
        super().__init__(*args, **kwargs)
        self.teachers = teachers

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        x, y = inputs["pixel_values"], inputs["labels"]
        if model.training:
            x = jitter(x)
        out = model(pixel_values=x)
        with torch.no_grad():
            soft = torch.stack([(t(x) / TEMPERATURE).softmax(-1) for t in self.teachers]).mean(0)
        kd = F.kl_div(F.log_softmax(out["logits"] / TEMPERATURE, -1), soft, reduction="batchmean") * TEMPERATURE ** 2
        known = y != -100
        hard = F.cross_entropy(out["logits"], y, ignore_index=-100, reduction="sum") / known.sum().clamp(min=1)
        loss = (1 - LABEL_WEIGHT) * kd + LABEL_WEIGHT * hard
        return (loss, out) if return_outputs else loss


class ShortLog(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"epoch {state.epoch:.0f}: " + ", ".join(f"{k[5:]} {v:.3f}" for k, v in metrics.items()
                                                       if k in ("eval_loss", "eval_accuracy")))


def accuracy_metric(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


def main():
    digits = load_digits()
    x = torch.tensor(digits.images / 16.0, dtype=torch.float32)[:, None]
    y = torch.tensor(digits.target)
    tr, te = train_test_split(np.arange(len(x)), test_size=0.3, random_state=0, stratify=digits.target)
    lab, _ = train_test_split(tr, train_size=N_LABELLED, random_state=0, stratify=digits.target[tr])

    teachers = [fit_teacher(x[lab], y[lab], seed) for seed in range(2)]
    vote = torch.stack([t(x[te]).softmax(-1) for t in teachers]).mean(0).argmax(-1)
    print(f"teachers: test accuracy {(vote == y[te]).float().mean():.3f}")

    set_seed(0)
    alone = Student()
    opt = torch.optim.Adam(alone.parameters(), lr=5e-3)
    for _ in range(150):
        loss = F.cross_entropy(alone(jitter(x[lab]))["logits"], y[lab])
        opt.zero_grad()
        loss.backward()
        opt.step()
    base = (alone(x[te])["logits"].argmax(-1) == y[te]).float().mean()
    print(f"student on the {N_LABELLED} labels alone: test accuracy {base:.3f}")

    set_seed(0)
    partly = torch.full_like(y, -100)
    partly[lab] = y[lab]
    args = TrainingArguments("out/student", num_train_epochs=40, per_device_train_batch_size=64, learning_rate=5e-3,
                             lr_scheduler_type="cosine", weight_decay=0.0, eval_strategy="steps", eval_steps=100,
                             save_strategy="no", logging_strategy="no", remove_unused_columns=False, report_to="none",
                             label_names=["labels"], use_cpu=True, disable_tqdm=True, seed=0)
    trainer = DistillTrainer(model=Student(), args=args, train_dataset=Images(x[tr], partly[tr]),
                             eval_dataset=Images(x[te], y[te]), compute_metrics=accuracy_metric, teachers=teachers,
                             callbacks=[ShortLog()])
    trainer.train()
    print(f"distilled student: test accuracy {trainer.evaluate()['eval_accuracy']:.3f}")


if __name__ == "__main__":
    main()
