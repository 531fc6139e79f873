import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import ResNetConfig, ResNetModel, Trainer, TrainingArguments, set_seed

SIZE = 48
KINDS = ["cone", "can", "sphere"]


class Harbour(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:SIZE, :SIZE]
        self.items = []
        for _ in range(n):
            kind = int(rng.integers(len(KINDS)))
            r = rng.uniform(6, 11)
            cx, cy = rng.uniform(r, SIZE - r, 2)
            if kind == 0:
                inside = (np.abs(xx - cx) * 2 < (yy - cy + r)) & (yy < cy + r)
            elif kind == 1:
                inside = (np.abs(xx - cx) < r) & (np.abs(yy - cy) < r)
            else:
                inside = (xx - cx) ** 2 + (yy - cy) ** 2 < r * r
            image = rng.normal(0, 0.15, (3, SIZE, SIZE)) + inside * rng.uniform(0.6, 1.2, (3, 1, 1))
            box = np.array([cx - r, cy - r, cx + r, cy + r])
            self.items.append({"pixel_values": torch.tensor(image, dtype=torch.float32), "labels": kind,
                               "boxes": torch.tensor(box, dtype=torch.float32)})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class BuoyFinder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = ResNetModel(ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 48], depths=[1, 1, 1],
                                                 layer_type="basic"))
        self.shared = nn.Sequential(nn.Flatten(), nn.LazyLinear(96), nn.ReLU())
        self.kind = nn.Linear(96, len(KINDS))
        self.box = nn.Linear(96, 4)

    def forward(self, pixel_values, labels=None, boxes=None):
        h = self.shared(self.backbone(pixel_values).last_hidden_state)
        logits, box = self.kind(h), self.box(h)
        out = {"logits": logits, "box": box}
        if labels is not None:
            out = {"loss": F.cross_entropy(logits, labels) + F.mse_loss(box, boxes), **out}
        return out


def metrics(p):
    logits, box = p.predictions
    kinds, boxes = p.label_ids
    return {"kind_accuracy": float((logits.argmax(-1) == kinds).mean()), "box_mae": float(np.abs(box - boxes).mean())}


def main():
    set_seed(2)
    train, val = Harbour(1000, 10), Harbour(200, 11)
    model = BuoyFinder()
    model(train[0]["pixel_values"][None].repeat(2, 1, 1, 1))
    args = TrainingArguments("buoys_out", per_device_train_batch_size=32, num_train_epochs=20, learning_rate=0.1,
                             optim="sgd", optim_args="momentum=0.9", eval_strategy="epoch", save_strategy="no", logging_steps=32,
                             label_names=["labels", "boxes"], report_to="none", lr_scheduler_type="cosine")
    trainer = Trainer(model, args, train_dataset=train, eval_dataset=val, compute_metrics=metrics)
    trainer.train()
    print(trainer.evaluate())


main()
