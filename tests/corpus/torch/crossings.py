"""Will the pedestrian cross? A small recurrent model on tracked walking paths, trained with noise added to the paths."""
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, set_seed


@dataclass
class Config:
    steps: int = 24
    hidden: int = 48
    noise: float = 0.1
    train_rows: int = 1200
    valid_rows: int = 300
    seed: int = 21


class Paths(torch.utils.data.Dataset):
    def __init__(self, n, steps, rng):
        y = rng.integers(0, 3, n)                       # 0 walks on, 1 crosses, 2 waits
        t = np.linspace(0, 1, steps)
        along = np.where(y[:, None] == 2, np.minimum(t, 0.4 + 0.2 * rng.random((n, 1))), t) * rng.uniform(0.8, 1.2, (n, 1))
        turn = rng.uniform(0.4, 0.7, (n, 1))
        across = np.where(y[:, None] == 1, np.maximum(t - turn, 0) * 2.0, 0.0)
        side = rng.choice([-1.0, 1.0], (n, 1))
        xy = np.stack([along, across * side], -1) + rng.normal(0, 0.06, (n, steps, 2))
        self.x, self.y = torch.tensor(xy, dtype=torch.float32), torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"path": self.x[i], "labels": self.y[i]}


class PathNet(nn.Module):
    def __init__(self, hidden, classes=3):
        super().__init__()
        self.gru = nn.GRU(2, hidden, batch_first=True)
        self.out = nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, classes))
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, path, labels=None):
        _, h = self.gru(path)
        logits = self.out(h[-1])
        return {"loss": self.criterion(logits, labels), "logits": logits} if labels is not None else {"logits": logits}


class NoisyTrainer(Trainer):
    def __init__(self, *args, noise=0.0, **kw):
        super().__init__(*args, **kw)
        self.noise = noise

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        inputs["path"] = inputs["path"] + self.noise * torch.randn_like(inputs["path"])
        with self.compute_loss_context_manager():
            loss = self.compute_loss(model, inputs)
        if self.args.n_gpu > 1:
            loss = loss.mean()
        return loss.detach()


def metrics(p):
    guess = p.predictions.argmax(-1)
    return {"accuracy": float((guess == p.label_ids).mean()),
            "recall_crossing": float((guess[p.label_ids == 1] == 1).mean())}


def main(cfg=Config()):
    set_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    args = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=8, per_device_train_batch_size=32, learning_rate=3e-3,
                             eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
                             metric_for_best_model="accuracy", logging_steps=38, report_to="none", disable_tqdm=True,
                             overwrite_output_dir=True)
    trainer = NoisyTrainer(model=PathNet(cfg.hidden), args=args, noise=cfg.noise,
                           train_dataset=Paths(cfg.train_rows, cfg.steps, rng),
                           eval_dataset=Paths(cfg.valid_rows, cfg.steps, rng), compute_metrics=metrics,
                           callbacks=[EarlyStoppingCallback(early_stopping_patience=8)])
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
