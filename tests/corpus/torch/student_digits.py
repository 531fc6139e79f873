"""Distil a convnet teacher into a very small student with the HF Trainer.

The student sees only 150 labelled digits; the teacher also scores unlabelled ones.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from transformers import Trainer, TrainingArguments, set_seed

T = 3.0
NO_LABEL = -100


class Digits(torch.utils.data.Dataset):
    def __init__(self, x, y, labelled=None):
        self.x = torch.tensor(x, dtype=torch.float32).view(-1, 1, 8, 8) / 16
        self.y = torch.tensor(y)
        if labelled is not None:
            self.y = self.y.clone()
            self.y[labelled:] = NO_LABEL

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}


def teacher_net():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(1024, 10))


def fit_teacher(data, epochs=8):
    net = teacher_net()
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-3, alpha=0.95)
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True, drop_last=True)
    for _ in range(epochs):
        for b in loader:
            opt.zero_grad()
            F.cross_entropy(net(b["x"]), b["labels"], label_smoothing=0.05).backward()
            opt.step()
    return net.eval().requires_grad_(False)


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, 20), nn.Tanh(), nn.Linear(20, 10))

    def forward(self, x, labels=None):
        return {"logits": self.net(x)}


class DistilTrainer(Trainer):
    def __init__(self, *args, teacher=None, alpha=0.8, **kw):
        super().__init__(*args, **kw)
        self.teacher, self.alpha = teacher, alpha

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        x, y = inputs["x"], inputs["labels"]
        out = model(x=x)
        z = out["logits"]
        with torch.no_grad():
            target = F.softmax(self.teacher(x) / T, dim=-1)
        soft = F.kl_div(F.log_softmax(z / T, dim=-1), target, reduction="batchmean") * T * T
        known = y != NO_LABEL
        # a batch may hold no labelled digit at all
        hard = F.cross_entropy(z[known], y[known]) if known.any() else z.sum() * 0.0
        loss = self.alpha * soft + (1 - self.alpha) * hard
        return (loss, out) if return_outputs else loss


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def train_student(train, test, teacher, alpha, epochs):
    set_seed(0)
    trainer = DistilTrainer(
        model=Student(), teacher=teacher, alpha=alpha,
        args=TrainingArguments(
            output_dir="out/student", num_train_epochs=epochs, per_device_train_batch_size=32,
            per_device_eval_batch_size=600, learning_rate=0.01, lr_scheduler_type="cosine",
            weight_decay=1e-3, max_grad_norm=5.0, logging_steps=200, save_strategy="no",
            remove_unused_columns=False, label_names=["labels"], report_to=[], disable_tqdm=True, use_cpu=True),
        train_dataset=train, eval_dataset=test, compute_metrics=accuracy)
    trainer.train()
    return trainer.evaluate()["eval_accuracy"]


if __name__ == "__main__":
    set_seed(0)
    x, y = load_digits(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=600, stratify=y, random_state=1)
    test = Digits(x_te, y_te)
    teacher = fit_teacher(Digits(x_tr, y_tr))
    with torch.no_grad():
        t_acc = (teacher(test.x).argmax(1) == test.y).float().mean().item()
    alone = train_student(Digits(x_tr[:150], y_tr[:150]), test, teacher, alpha=0.0, epochs=40)
    distilled = train_student(Digits(x_tr, y_tr, labelled=150), test, teacher, alpha=0.8, epochs=15)
    print(f"teacher {t_acc:.3f} | student on 150 labels {alone:.3f}")
    print(f"distilled student test accuracy {distilled:.3f}")
