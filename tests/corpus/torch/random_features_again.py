"""Random convolutional features with a trained read-out, through the HF Trainer."""
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed


class RandomFeatureNet(nn.Module):
    def __init__(self, width=256, n_classes=10):
        super().__init__()
        self.bank = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten()
        )
        for p in self.bank.parameters():
            p.requires_grad_(False)
        self.readout = nn.Linear(width * 16, n_classes)
        nn.init.zeros_(self.readout.weight)
        nn.init.zeros_(self.readout.bias)

    def forward(self, pixels, target=None):
        with torch.no_grad():
            feats = self.bank(pixels)
        logits = self.readout(feats)
        out = {"logits": logits}
        if target is not None:
            out = {"loss": nn.functional.cross_entropy(logits, target), **out}
        return out


class Digits(torch.utils.data.Dataset):
    def __init__(self, x, y):
        self.x = torch.tensor(x / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
        self.y = y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"pixels": self.x[i], "target": int(self.y[i])}


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def main():
    set_seed(8)
    x, y = load_digits(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=1, stratify=y)
    model = RandomFeatureNet()
    total = sum(p.numel() for p in model.parameters())
    active = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{active} of {total} parameters are trained")
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=8,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=150,
        learning_rate=5e-3,
        label_names=["target"],
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="epoch",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=Digits(x_tr, y_tr),
        eval_dataset=Digits(x_te, y_te),
        compute_metrics=compute_metrics,
    )
    trainer.train()
    r = trainer.evaluate()
    print(f"test loss {r['eval_loss']:.4f} accuracy {r['eval_accuracy']:.4f}")


if __name__ == "__main__":
    main()
