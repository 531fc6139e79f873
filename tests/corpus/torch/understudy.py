"""A wide teacher is trained first; a student learns mostly from its soft answers."""
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed


class Rows(torch.utils.data.Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.tensor(x / 16.0, dtype=torch.float32), torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}


class Net(nn.Module):
    def __init__(self, width, dropout=0.0):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, 10))

    def forward(self, x, labels=None):
        logits = self.seq(x)
        out = {"logits": logits}
        if labels is not None:
            out = {"loss": F.cross_entropy(logits, labels), "logits": logits}
        return out


class DistillTrainer(Trainer):
    def __init__(self, *args, teacher, temperature=4.0, alpha=0.1, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher.eval().requires_grad_(False)
        self.temperature, self.alpha = temperature, alpha
        self.model_accepts_loss_kwargs = False

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(**inputs)
        with torch.no_grad():
            soft = self.teacher(inputs["x"])["logits"]
        t = self.temperature
        kl = F.kl_div(F.log_softmax(out["logits"] / t, -1), F.log_softmax(soft / t, -1), log_target=True,
                      reduction="batchmean") * t * t
        loss = self.alpha * out["loss"] + (1 - self.alpha) * kl
        return (loss, {"loss": loss, "logits": out["logits"]}) if return_outputs else loss


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def arguments(**kw):
    base = dict(output_dir="understudy_out", eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
                report_to="none", learning_rate=3e-3, per_device_train_batch_size=32)
    return TrainingArguments(**{**base, **kw})


def main():
    set_seed(30)
    x, y = load_digits(return_X_y=True)
    xa, xb, ya, yb = train_test_split(x, y, test_size=360, random_state=0, stratify=y)
    train, test = Rows(xa, ya), Rows(xb, yb)
    teacher = Net(512, dropout=0.3)
    Trainer(teacher, arguments(num_train_epochs=6), train_dataset=train, eval_dataset=test,
            compute_metrics=accuracy).train()
    student = Net(16)
    trainer = DistillTrainer(student, arguments(num_train_epochs=12, learning_rate=1e-2, gradient_accumulation_steps=2),
                             train_dataset=train, eval_dataset=test, compute_metrics=accuracy, teacher=teacher)
    trainer.train()
    print(trainer.evaluate())


main()
