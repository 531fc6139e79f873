"""Bearing faults are rare (about 2 % of windows). HF Trainer with a weighted loss and a bias start at the prior."""
import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed


def windows(n, seed, rate=0.02):
    g = np.random.default_rng(seed)
    y = (g.random(n) < rate).astype(np.float32)
    t = np.arange(100)
    x = np.sin(2 * np.pi * t * 0.07 + g.uniform(0, 6.28, (n, 1))) + g.normal(0, 0.5, (n, 100))
    for i in np.flatnonzero(y):
        x[i, g.integers(0, 25)::25] += g.uniform(2.0, 3.0)
    return [{"signal": torch.tensor(a, dtype=torch.float32), "labels": torch.tensor(b)} for a, b in zip(x, y)]


class FaultNet(nn.Module):
    def __init__(self, prior):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 16, 7, padding=3), nn.BatchNorm1d(16), nn.ReLU(),
                                  nn.Conv1d(16, 32, 7, stride=2, padding=3), nn.BatchNorm1d(32), nn.ReLU())
        self.out = nn.Linear(64, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.constant_(self.out.bias, float(np.log(prior / (1 - prior))))

    def forward(self, signal, labels=None):
        h = self.conv(signal.unsqueeze(1))
        h = torch.cat([h.mean(-1), h.amax(-1)], 1)
        return {"logits": self.out(h).squeeze(-1)}


class WeightedTrainer(Trainer):
    pos_weight = torch.tensor(8.0)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        out = model(inputs["signal"])
        loss = nn.functional.binary_cross_entropy_with_logits(out["logits"], labels, pos_weight=self.pos_weight)
        return (loss, out) if return_outputs else loss


def metrics(p):
    logit, y = p.predictions, p.label_ids > 0.5
    hit = logit > 0
    prec = (hit & y).sum() / max(hit.sum(), 1)
    rec = (hit & y).sum() / max(y.sum(), 1)
    return {"precision": float(prec), "recall": float(rec), "always_no_accuracy": float(1 - y.mean())}


if __name__ == "__main__":
    set_seed(5)
    train, dev = windows(8000, 0), windows(3000, 1)
    args = TrainingArguments("out", num_train_epochs=4, per_device_train_batch_size=64,
                             per_device_eval_batch_size=500, learning_rate=3e-3, eval_strategy="epoch", logging_steps=100,
                             save_strategy="no", report_to="none", disable_tqdm=True, label_names=["labels"])
    WeightedTrainer(model=FaultNet(0.02), args=args, train_dataset=train, eval_dataset=dev, compute_metrics=metrics).train()
