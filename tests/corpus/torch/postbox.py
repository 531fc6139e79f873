import json
import pathlib

import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed


class Parcels(torch.utils.data.Dataset):
    """Weight, size, distance, fragility, weekday -> which of three services is used."""

    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        x = g.normal(size=(n, 5)).astype("float32")
        score = np.stack([x[:, 0] - x[:, 1], x[:, 2] * 1.5 + 0.3, -x[:, 0] + np.abs(x[:, 3])], 1)
        self.x = torch.from_numpy(x)
        self.y = torch.from_numpy((score + g.normal(scale=0.1, size=score.shape)).argmax(1))

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return dict(features=self.x[i], labels=self.y[i])


class ServiceModel(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, 3))

    def forward(self, features, labels=None):
        logits = self.net(features)
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return dict(loss=loss, logits=logits)


class JsonlTrainer(Trainer):
    def __init__(self, *args, log_file=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.log_file = pathlib.Path(log_file)
        self.log_file.parent.mkdir(parents=True, exist_ok=True)

    def log(self, logs):
        with self.log_file.open("a") as f:
            f.write(json.dumps({"step": self.state.global_step, **logs}) + "\n")
        super().log(logs)


if __name__ == "__main__":
    set_seed(5)
    args = TrainingArguments(
        output_dir="postbox_out",
        max_steps=300,
        per_device_train_batch_size=32,
        learning_rate=5e-3,
        logging_steps=50,
        eval_strategy="steps",
        eval_steps=100,
        save_strategy="no",
        report_to=[],
    )
    trainer = JsonlTrainer(
        model=ServiceModel(),
        args=args,
        train_dataset=Parcels(3000, 0),
        eval_dataset=Parcels(600, 1),
        compute_metrics=lambda p: {"acc": float(np.mean(p.predictions.argmax(1) == p.label_ids))},
        log_file="postbox_out/history.jsonl",
    )
    trainer.train()
    print(trainer.evaluate())
