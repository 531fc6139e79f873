"""Weather type from a pressure map: plain SGD at a high rate, an averaged copy of the weights is what gets evaluated."""
import copy

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(6)
TYPES = ["high", "low", "trough", "ridge"]


class Maps(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.y = rng.choice(4, n, p=[0.55, 0.25, 0.12, 0.08])
        g = np.linspace(-1, 1, 16)
        xx, yy = np.meshgrid(g, g)
        maps = []
        for k in self.y:
            cx, cy, a = rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), rng.uniform(0, np.pi)
            if k < 2:
                bump = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 0.15)
            else:
                bump = np.exp(-((xx - cx) * np.cos(a) + (yy - cy) * np.sin(a)) ** 2 / 0.06)
            sign = 1 if k in (0, 3) else -1
            maps.append(1013 + sign * rng.uniform(10, 22) * bump + rng.normal(0, 4, (16, 16)))
        self.x = torch.tensor((np.stack(maps) - 1013) / 10, dtype=torch.float32).unsqueeze(1)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"maps": self.x[i], "labels": int(self.y[i])}


class MapNet(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(16, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.ReLU(), nn.AdaptiveMaxPool2d(2),
                                  nn.Flatten(), nn.Linear(128, 4))
        self.register_buffer("weight", weight)

    def forward(self, maps, labels=None):
        logits = self.body(maps)
        if labels is None:
            return {"logits": logits}
        return {"loss": nn.functional.cross_entropy(logits, labels, weight=self.weight), "logits": logits}


class Average(TrainerCallback):
    def __init__(self, model, decay=0.97):
        self.decay, self.shadow = decay, copy.deepcopy(model).requires_grad_(False)

    def on_step_end(self, args, state, control, model=None, **kw):
        d = min(self.decay, (1 + state.global_step) / (10 + state.global_step))
        with torch.no_grad():
            for s, p in zip(self.shadow.parameters(), model.parameters()):
                s.lerp_(p, 1 - d)


def metrics(p):
    guess = p.predictions.argmax(-1)
    return {"balanced_accuracy": float(np.mean([(guess[p.label_ids == k] == k).mean() for k in range(4)]))}


train, valid = Maps(1500, 1), Maps(400, 2)
share = torch.tensor(np.bincount(train.y, minlength=4) / len(train.y), dtype=torch.float32)
model = MapNet(1 / (4 * share))
steps = 47 * 8
sgd = torch.optim.SGD(model.parameters(), lr=0.3, nesterov=True, momentum=0.8, weight_decay=1e-4)
cycle = torch.optim.lr_scheduler.OneCycleLR(sgd, max_lr=0.3, total_steps=steps + 1, pct_start=0.2)
average = Average(model)
args = TrainingArguments(output_dir="isobars", num_train_epochs=8, per_device_train_batch_size=32, logging_steps=47,
                         max_grad_norm=2.0, save_strategy="no", report_to="none", disable_tqdm=True,
                         dataloader_pin_memory=False)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid, compute_metrics=metrics,
                  optimizers=(sgd, cycle), callbacks=[average])
trainer.train()
print("raw weights     ", trainer.evaluate()["eval_balanced_accuracy"])
judge = Trainer(model=average.shadow, args=args, eval_dataset=valid, compute_metrics=metrics)
print("averaged weights", judge.evaluate()["eval_balanced_accuracy"])
