import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from datasets import Dataset
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from transformers import Trainer, TrainingArguments, set_seed

set_seed(0)
X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
train_ds = Dataset.from_dict({"pixels": Xtr, "labels": ytr}).with_format("torch")
test_ds = Dataset.from_dict({"pixels": Xte, "labels": yte}).with_format("torch")


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, pixels, labels=None):
        logits = self.body(pixels)
        loss = F.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


class DistillationTrainer(Trainer):
    def __init__(self, *args, teacher=None, temperature=3.0, alpha=0.3, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher.eval()
        self.temperature, self.alpha = temperature, alpha

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        with torch.no_grad():
            teacher_logits = self.teacher(inputs["pixels"])["logits"]
        T = self.temperature
        soft = nn.KLDivLoss(reduction="batchmean")(
            outputs["logits"] / T,
            F.softmax(teacher_logits / T, dim=-1)) * T ** 2
        loss = self.alpha * outputs["loss"] + (1 - self.alpha) * soft
        return (loss, outputs) if return_outputs else loss


def metrics(p):
    logits = torch.tensor(p.predictions)
    labels = torch.tensor(p.label_ids)
    return {"accuracy": (logits.argmax(-1) == labels).float().mean().item(),
            "nll": F.cross_entropy(logits, labels).item()}


def arguments(epochs):
    return TrainingArguments(output_dir="distil", num_train_epochs=epochs, learning_rate=3e-3,
                             per_device_train_batch_size=32, per_device_eval_batch_size=128,
                             logging_steps=100, save_strategy="no", report_to="none", use_cpu=True)


teacher = Net(256)
t = Trainer(teacher, arguments(10), train_dataset=train_ds, eval_dataset=test_ds, compute_metrics=metrics)
t.train()
print("teacher", t.evaluate())

student = Net(16)
s = DistillationTrainer(student, arguments(20), train_dataset=train_ds, eval_dataset=test_ds,
                        compute_metrics=metrics, teacher=teacher)
s.train()
print("student", s.evaluate())
