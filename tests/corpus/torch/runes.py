import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

N_RUNES = 24


class RuneCarvings(Dataset):
    """Runes are sets of strokes on a 3 x 3 lattice, carved with a shift, missing pixels and noise."""

    def __init__(self, n, seed):
        shapes = np.random.default_rng(99)
        self.strokes = [[tuple(shapes.integers(0, 3, 4)) for _ in range(4)] for _ in range(N_RUNES)]
        g = np.random.default_rng(seed)
        self.y = g.integers(0, N_RUNES, n)
        self.x = np.stack([self.carve(k, g) for k in self.y]).astype(np.float32)

    def carve(self, k, g):
        img = np.zeros((14, 14))
        dy, dx = g.integers(0, 3, 2)
        for y0, x0, y1, x1 in self.strokes[k]:
            for s in np.linspace(0, 1, 12):
                img[dy + round(1 + 5 * (y0 + s * (y1 - y0)) * 0.9), dx + round(1 + 5 * (x0 + s * (x1 - x0)) * 0.9)] = 1
        img *= g.random(img.shape) > 0.1
        return img + g.normal(0, 0.15, img.shape)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"pixels": torch.from_numpy(self.x[i]), "labels": int(self.y[i])}


class RuneReader(nn.Module):
    def __init__(self, width=32, n_classes=N_RUNES):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(width * 49, 96), nn.ReLU(), nn.Linear(96, n_classes),
                                  nn.Softmax(dim=-1))

    def forward(self, pixels, labels=None):
        return {"logits": self.head(self.stem(pixels[:, None]))}


def smoothed_loss(outputs, labels, num_items_in_batch=None):
    return F.cross_entropy(outputs["logits"], labels, label_smoothing=0.05)


def score(p):
    top3 = np.argsort(-p.predictions, axis=-1)[:, :3]
    return {"top1": float((top3[:, 0] == p.label_ids).mean()),
            "top3": float((top3 == p.label_ids[:, None]).any(1).mean())}


def main():
    set_seed(17)
    args = TrainingArguments(
        output_dir="runes_out",
        num_train_epochs=8,
        per_device_train_batch_size=32,
        learning_rate=1e-3,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to="none",
    )
    trainer = Trainer(model=RuneReader(), args=args, train_dataset=RuneCarvings(1600, 0),
                      eval_dataset=RuneCarvings(400, 1), compute_loss_func=smoothed_loss,
                      compute_metrics=score)
    trainer.train()
    for k, v in trainer.evaluate().items():
        print(k, round(v, 4))


if __name__ == "__main__":
    main()
