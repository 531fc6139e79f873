import copy

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from torch import nn
from torch.utils.data import DataLoader, WeightedRandomSampler
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

LENGTH = 64


def vibration(n, seed, fault_rate=0.04):
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < fault_rate).astype(int)
    t = np.arange(LENGTH)
    signals = []
    for faulty in labels:
        s = np.sin(2 * np.pi * rng.uniform(0.05, 0.12) * t + rng.uniform(0, 6.28)) + 0.4 * rng.normal(size=LENGTH)
        if faulty:
            start, gap = rng.integers(0, 8), rng.integers(9, 13)
            s[start::gap] += rng.uniform(1.5, 2.5)
        signals.append(s.astype(np.float32))
    return Dataset.from_dict({"signal": signals, "labels": labels.tolist()}).with_format("torch")


class FaultNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(16, 32, 7, padding=3), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten())
        self.head = nn.Linear(32, 2)

    def forward(self, signal, labels=None):
        logits = self.head(self.features(signal[:, None, :]))
        out = {"logits": logits}
        if labels is not None:
            out = {"loss": nn.functional.cross_entropy(logits, labels), **out}
        return out


class AveragedWeights(TrainerCallback):
    def __init__(self, decay):
        self.decay, self.shadow = decay, None

    def on_step_end(self, args, state, control, model=None, **kwargs):
        if self.shadow is None:
            self.shadow = copy.deepcopy(model.state_dict())
        with torch.no_grad():
            for k, v in model.state_dict().items():
                self.shadow[k].mul_(self.decay).add_(v, alpha=1 - self.decay)

    def on_train_end(self, args, state, control, model=None, **kwargs):
        model.load_state_dict(self.shadow)


class BalancedTrainer(Trainer):
    def get_train_dataloader(self):
        y = np.array(self.train_dataset["labels"])
        weight = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
        sampler = WeightedRandomSampler(torch.tensor(weight), num_samples=len(y), replacement=True)
        return DataLoader(self.train_dataset, batch_size=self.args.train_batch_size, sampler=sampler,
                          collate_fn=self.data_collator)


def compute_metrics(p):
    margin = p.predictions[:, 1] - p.predictions[:, 0]
    return {"average_precision": float(average_precision_score(p.label_ids, margin)),
            "balanced_accuracy": float(balanced_accuracy_score(p.label_ids, margin > 0)),
            "fault_rate": float(p.label_ids.mean())}


set_seed(41)
train, test = vibration(2500, 1), vibration(1000, 2)
args = TrainingArguments("turbines_out", learning_rate=3e-3, per_device_train_batch_size=64, num_train_epochs=10,
                         eval_strategy="no", save_strategy="no", logging_steps=40, report_to="none", seed=41)
trainer = BalancedTrainer(model=FaultNet(), args=args, train_dataset=train, eval_dataset=test,
                          compute_metrics=compute_metrics, callbacks=[AveragedWeights(0.98)])
trainer.train()
print(trainer.evaluate())
