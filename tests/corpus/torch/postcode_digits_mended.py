"""Handwritten postcode digits: convnet + mixup, trained with the HF Trainer.

The sorting machine only accepts a reading when the model is at least 90% sure,
so besides accuracy we report log loss and the share of accepted letters.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from transformers import Trainer, TrainingArguments, set_seed

N_CLASSES = 10


class DigitSet(torch.utils.data.Dataset):
    def __init__(self, images, labels):
        self.images = torch.tensor(images / 16.0, dtype=torch.float32).unsqueeze(1)
        self.labels = torch.tensor(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"pixel_values": self.images[i], "labels": self.labels[i]}


class PostcodeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 64, 3, padding=1), nn.ReLU(), nn.Flatten(),
        )
        self.fc = nn.Sequential(nn.Linear(64 * 16, 96), nn.ReLU(), nn.Linear(96, N_CLASSES))

    def forward(self, pixel_values, labels=None):
        logits = self.fc(self.conv(pixel_values))
        out = {"logits": logits}
        if labels is not None:
            out["loss"] = F.cross_entropy(logits, labels)
        return out


class MixupTrainer(Trainer):
    def __init__(self, *args, mixup_alpha=0.4, **kwargs):
        super().__init__(*args, **kwargs)
        self.beta = torch.distributions.Beta(mixup_alpha, mixup_alpha)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        if model.training:
            inputs = self.mix(inputs["pixel_values"], inputs["labels"])
        outputs = model(**inputs)
        return (outputs["loss"], outputs) if return_outputs else outputs["loss"]

    def mix(self, x, y):
        lam = self.beta.sample((len(x),))
        perm = torch.randperm(len(x))
        w = lam.view(-1, 1, 1, 1)
        onehot = F.one_hot(y, N_CLASSES).float()
        target = lam[:, None] * onehot + (1 - lam[:, None]) * onehot[perm]
        return {"pixel_values": w * x + (1 - w) * x[perm], "labels": target}


def compute_metrics(p):
    z = torch.tensor(p.predictions)
    y = torch.tensor(p.label_ids)
    prob = z.softmax(-1)
    sure = prob.max(-1).values >= 0.9
    return {
        "accuracy": (z.argmax(-1) == y).float().mean().item(),
        "log_loss": F.cross_entropy(z, y).item(),
        "accepted": sure.float().mean().item(),
    }


def main():
    set_seed(0)
    digits = load_digits()
    x_tr, x_te, y_tr, y_te = train_test_split(
        digits.images, digits.target, test_size=0.5, stratify=digits.target, random_state=0)

    args = TrainingArguments(
        output_dir="out/postcode",
        num_train_epochs=20,
        per_device_train_batch_size=64,
        per_device_eval_batch_size=450,
        learning_rate=2e-3,
        weight_decay=0.01,
        warmup_ratio=0.1,
        logging_steps=50,
        eval_strategy="steps",
        eval_steps=100,
        save_strategy="no",
        label_names=["labels"],
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = MixupTrainer(
        model=PostcodeNet(), args=args, train_dataset=DigitSet(x_tr, y_tr),
        eval_dataset=DigitSet(x_te, y_te), compute_metrics=compute_metrics, mixup_alpha=0.4,
    )
    trainer.train()
    m = trainer.evaluate()
    print(f"majority class {np.bincount(y_te).max() / len(y_te):.3f}, uniform log loss {np.log(N_CLASSES):.3f}")
    print(f"test accuracy {m['eval_accuracy']:.3f}  log loss {m['eval_log_loss']:.3f}  accepted {m['eval_accepted']:.3f}")


if __name__ == "__main__":
    main()
