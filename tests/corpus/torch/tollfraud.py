import copy

import numpy as np
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import nn
from torch.utils.data import TensorDataset, WeightedRandomSampler
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed


def calls(n, seed, rate=0.03):
    g = np.random.default_rng(seed)
    y = (np.arange(n) < n * rate).astype("float32")
    x = g.normal(size=(n, 8)).astype("float32")
    bad = y == 1
    x[bad, 0] += 1.8
    x[bad, 1] *= 2.5
    x[bad, 2] = x[bad, 3] + g.normal(0, 0.3, bad.sum())
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


def collate(rows):
    x, y = map(torch.stack, zip(*rows))
    return {"x": x, "labels": y}


class CallScorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                                 nn.Linear(64, 1))

    def forward(self, x, labels=None):
        score = self.net(x).squeeze(-1)
        if labels is None:
            return {"score": score}
        p = torch.sigmoid(score)
        bce = nn.functional.binary_cross_entropy_with_logits(score, labels, reduction="none")
        focal = (labels - p).abs() ** 2 * bce
        return {"loss": 4 * focal.mean(), "score": score}


class BalancedTrainer(Trainer):
    def _get_train_sampler(self, *args, **kwargs):
        y = self.train_dataset.tensors[1]
        weight = torch.where(y == 1, 0.3 / y.sum(), 0.7 / (1 - y).sum())
        return WeightedRandomSampler(weight, len(y), replacement=True)


class Ema(TrainerCallback):
    def __init__(self, model, decay=0.98):
        self.decay, self.shadow, self.backup = decay, copy.deepcopy(model).requires_grad_(False), None

    def on_step_end(self, args, state, control, model=None, **kwargs):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p.detach(), 1 - self.decay)
        for s, b in zip(self.shadow.buffers(), model.buffers()):
            s.copy_(b)

    def on_train_end(self, args, state, control, model=None, **kwargs):
        model.load_state_dict(self.shadow.state_dict())


def metrics(p):
    return {"auc": roc_auc_score(p.label_ids, p.predictions), "ap": average_precision_score(p.label_ids, p.predictions),
            "base_rate": float(p.label_ids.mean())}


set_seed(14)
model = CallScorer()
args = TrainingArguments("toll_out", num_train_epochs=6, per_device_train_batch_size=64, per_device_eval_batch_size=500,
                         optim="sgd", learning_rate=0.3, optim_args="momentum=0.5", lr_scheduler_type="linear",
                         remove_unused_columns=False, eval_strategy="epoch", logging_steps=50, save_strategy="no",
                         report_to="none")
trainer = BalancedTrainer(model, args, train_dataset=calls(6000, 0), eval_dataset=calls(3000, 1), data_collator=collate,
                          compute_metrics=metrics, callbacks=[Ema(model)])
trainer.train()
print(trainer.evaluate())
