import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

N_CLASSES, N_FEATURES = 40, 32
DISTIL = {"temperature": 4.0, "alpha": 1.0}


class Readings(Dataset):
    def __init__(self, n, centres, seed):
        gen = torch.Generator().manual_seed(seed)
        self.y = torch.randint(N_CLASSES, (n,), generator=gen)
        self.x = centres[self.y] + 1.1 * torch.randn(n, N_FEATURES, generator=gen)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stack = nn.Sequential(
            nn.Linear(N_FEATURES, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, N_CLASSES),
        )

    def forward(self, x, labels=None):
        logits = self.stack(x)
        if labels is None:
            return {"logits": logits}
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}


class DistilTrainer(Trainer):
    def __init__(self, *args, teacher, temperature, alpha, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher.eval()
        self.temperature, self.alpha = temperature, alpha

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(**inputs)
        if not model.training:
            return (out["loss"], out) if return_outputs else out["loss"]
        with torch.no_grad():
            target = self.teacher(inputs["x"])["logits"]
        t = self.temperature
        student_p = F.softmax(out["logits"] / t, dim=-1)
        teacher_p = F.softmax(target / t, dim=-1)
        soft = F.kl_div(student_p, teacher_p, reduction="batchmean") * t * t
        loss = self.alpha * soft + (1 - self.alpha) * out["loss"]
        return (loss, out) if return_outputs else loss


def arguments(epochs, lr):
    return TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=epochs, learning_rate=lr,
        per_device_train_batch_size=64, per_device_eval_batch_size=256,
        logging_steps=100, save_strategy="no", disable_tqdm=True,
        report_to=[], use_cpu=True, seed=9)


def metrics(pred):
    logits = torch.tensor(pred.predictions)
    labels = torch.tensor(pred.label_ids)
    top3 = (logits.topk(3, dim=-1).indices == labels[:, None]).any(1)
    return {"accuracy": (logits.argmax(-1) == labels).float().mean().item(),
            "top3": top3.float().mean().item()}


def main():
    set_seed(9)
    centres = torch.randn(N_CLASSES, N_FEATURES)
    train = Readings(4000, centres, seed=1)
    test = Readings(1000, centres, seed=2)

    teacher = Net(width=256)
    Trainer(model=teacher, args=arguments(4, 1e-3), train_dataset=train).train()

    student = Net(width=24)
    trainer = DistilTrainer(
        model=student, args=arguments(10, 2e-3), train_dataset=train, eval_dataset=test,
        compute_metrics=metrics, teacher=teacher, **DISTIL)
    trainer.train()
    result = trainer.evaluate()

    with torch.no_grad():
        teacher_acc = (teacher.eval()(test.x)["logits"].argmax(1) == test.y).float().mean().item()
    print(f"teacher accuracy {teacher_acc:.3f}")
    print(f"student accuracy {result['eval_accuracy']:.3f}  top3 {result['eval_top3']:.3f}  "
          f"cross-entropy {result['eval_loss']:.3f}  (ln k {np.log(N_CLASSES):.3f})")


if __name__ == "__main__":
    main()
