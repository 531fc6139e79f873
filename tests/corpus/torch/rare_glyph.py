import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score, f1_score
from torch import nn
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(35)
rng = np.random.default_rng(35)
digits = load_digits()
pixels = (digits.data / 16.0).astype("float32")
is_eight = (digits.target == 8).astype("float32")
eights = np.flatnonzero(is_eight)
drop = rng.choice(eights, size=len(eights) - 90, replace=False)
rows = rng.permutation(np.setdiff1d(np.arange(len(pixels)), drop))
cut = int(0.7 * len(rows))


def table(idx):
    return [{"features": pixels[i], "labels": is_eight[i]} for i in idx]


train_rows, test_rows = table(rows[:cut]), table(rows[cut:])
rate = float(np.mean([r["labels"] for r in train_rows]))


class Detector(nn.Module):
    def __init__(self, prior):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        self.decoder = nn.Linear(24, 64)
        self.head = nn.Linear(24, 1)
        nn.init.constant_(self.head.bias, float(np.log(prior / (1 - prior))))
        self.gate = 0.0

    def forward(self, features, labels=None):
        code = self.encoder(features)
        logits = self.head(code).squeeze(1)
        hard = 1 - torch.exp(-F.binary_cross_entropy_with_logits(logits, labels, reduction="none"))
        focal = (hard ** 2 * F.binary_cross_entropy_with_logits(logits, labels, reduction="none")).mean()
        recon = F.mse_loss(self.decoder(code), features)
        return {"loss": (1 - self.gate) * recon + self.gate * 10 * focal, "logits": logits}


class TwoPhase(TrainerCallback):
    def __init__(self, detector, switch):
        self.detector, self.switch = detector, switch

    def on_epoch_begin(self, args, state, control, **kwargs):
        self.detector.gate = 0.0 if (state.epoch or 0) < self.switch else 1.0


def scores(p):
    return {"ap": average_precision_score(p.label_ids, p.predictions),
            "f1": f1_score(p.label_ids, p.predictions > 0, zero_division=0)}


model = Detector(rate)
args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=40, per_device_train_batch_size=32,
                         learning_rate=3e-3, weight_decay=0.0, lr_scheduler_type="constant", logging_steps=200,
                         max_grad_norm=1.0, save_strategy="no", report_to="none", use_cpu=True,
                         disable_tqdm=True, seed=35)
trainer = Trainer(model=model, args=args, train_dataset=train_rows, eval_dataset=test_rows,
                  compute_metrics=scores, callbacks=[TwoPhase(model, switch=12)])
trainer.train()
result = trainer.evaluate()
print(f"positive rate {rate:.3f}")
print(f"average precision {result['eval_ap']:.3f}   f1 {result['eval_f1']:.3f}")
