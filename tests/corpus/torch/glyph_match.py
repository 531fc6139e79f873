import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from transformers import Trainer, TrainingArguments, set_seed

set_seed(6)


class GlyphDataset(torch.utils.data.Dataset):
    def __init__(self, pixels, labels):
        self.pixels = torch.tensor(pixels, dtype=torch.float32).view(-1, 1, 8, 8)
        self.labels = torch.tensor(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"pixel_values": self.pixels[i], "labels": self.labels[i]}


class MarginClassifier(nn.Module):
    """Small conv net with a cosine (CosFace-like) head; embeddings are returned for retrieval."""

    def __init__(self, classes=10, dim=24, scale=12.0, margin=0.2):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(48 * 4, dim),
        )
        self.centres = nn.Parameter(torch.randn(classes, dim))
        self.scale, self.margin = scale, margin

    def forward(self, pixel_values, labels=None):
        emb = F.normalize(self.body(pixel_values), dim=-1)
        cosine = emb @ F.normalize(self.centres, dim=-1).T
        out = {"embeddings": emb, "logits": self.scale * cosine}
        if labels is not None:
            shift = self.margin * F.one_hot(labels, cosine.size(1))
            out = {"loss": F.cross_entropy(self.scale * (cosine - shift), labels), **out}
        return out


def compute_metrics(p):
    preds = p.predictions[0] if isinstance(p.predictions, tuple) else p.predictions
    preds = np.argmax(preds, axis=1)
    return {
        "accuracy": accuracy_score(p.label_ids, preds),
        "macro_f1": f1_score(p.label_ids, preds, average="macro", zero_division=0),
    }


def main():
    digits = load_digits()
    x_tr, x_te, y_tr, y_te = train_test_split(digits.data / 16.0, digits.target, test_size=0.25,
                                              stratify=digits.target, random_state=6)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=6,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        learning_rate=2e-3,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        logging_strategy="epoch",
        report_to="none",
        disable_tqdm=True,
        save_safetensors=False,
    )
    trainer = Trainer(
        model=MarginClassifier(),
        args=args,
        train_dataset=GlyphDataset(x_tr, y_tr),
        eval_dataset=GlyphDataset(x_te, y_te),
        compute_metrics=compute_metrics,
    )
    trainer.train()
    result = trainer.evaluate()
    print(f"best checkpoint {trainer.state.best_model_checkpoint.split('-')[-1]} of step {trainer.state.global_step}")
    print({k: round(v, 4) for k, v in result.items() if k in ("eval_loss", "eval_accuracy", "eval_macro_f1")})


if __name__ == "__main__":
    main()
