"""Multi-label tagging of short synthetic sound clips (log spectra), Adafactor inside the HF Trainer.

Rare tags get a positive weight, the head's bias starts at the prior log odds, and the filter
bank in front of the network is fixed. Model selection by hamming loss: smaller is better.
"""
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(44)
SR, SAMPLES = 2000, 512
TAGS = ["hum", "whistle", "click", "chirp", "noise_burst"]
PRIOR = np.array([0.5, 0.25, 0.3, 0.12, 0.2])


def clip(rng):
    on = rng.random(len(TAGS)) < PRIOR
    t = np.arange(SAMPLES) / SR
    x = rng.normal(0, 0.5, SAMPLES)
    if on[0]:
        x += 0.5 * np.sin(2 * np.pi * rng.uniform(45, 65) * t + rng.uniform(0, 6))
    if on[1]:
        x += 0.3 * np.sin(2 * np.pi * rng.uniform(500, 700) * t)
    if on[2]:
        for at in rng.integers(0, SAMPLES - 4, 5):
            x[at:at + 3] += rng.choice([-1, 1]) * 2.0
    if on[3]:
        x += 0.4 * np.sin(2 * np.pi * (150 * t + 600 * t ** 2))
    if on[4]:
        at = rng.integers(0, SAMPLES - 128)
        x[at:at + 128] += rng.normal(0, 0.7, 128)
    return x.astype(np.float32), on.astype(np.float32)


class Clips(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        rows = [clip(rng) for _ in range(n)]
        self.x = torch.from_numpy(np.stack([r[0] for r in rows]))
        self.y = torch.from_numpy(np.stack([r[1] for r in rows]))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"wave": self.x[i], "labels": self.y[i]}


class Tagger(nn.Module):
    def __init__(self, prior, pos_weight, win=64, hop=16):
        super().__init__()
        n = torch.arange(win).float()
        k = torch.arange(win // 2 + 1).float()[:, None]
        hann = torch.hann_window(win)
        bank = torch.cat([torch.cos(2 * np.pi * k * n / win) * hann, torch.sin(2 * np.pi * k * n / win) * hann])
        self.bank = nn.Parameter(bank[:, None], requires_grad=False)   # fixed Fourier filters
        self.hop, self.bins = hop, win // 2 + 1
        self.net = nn.Sequential(
            nn.BatchNorm1d(self.bins), nn.Conv1d(self.bins, 48, 3, padding=1), nn.GELU(),
            nn.Conv1d(48, 48, 5, padding=2, groups=4), nn.GELU())
        self.head = nn.Linear(96, len(TAGS))
        with torch.no_grad():
            self.head.weight.mul_(0.1)
            self.head.bias.copy_(torch.logit(prior))
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, wave, labels=None):
        spec = nn.functional.conv1d(wave[:, None], self.bank, stride=self.hop)
        power = spec[:, :self.bins] ** 2 + spec[:, self.bins:] ** 2
        h = self.net(torch.log(power + 1e-3))
        logits = self.head(torch.cat([h.mean(-1), h.amax(-1)], 1))
        out = {"logits": logits}
        if labels is not None:
            loss = nn.functional.binary_cross_entropy_with_logits(logits, labels, pos_weight=self.pos_weight)
            out = {"loss": loss, **out}
        return out


def compute_metrics(p):
    return {"hamming": float(((p.predictions > 0) != (p.label_ids > 0.5)).mean()),
            "mAP": float(average_precision_score(p.label_ids, p.predictions, average="macro"))}


class Echo(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kw):
        print(f"  epoch {state.epoch:.0f}: hamming {metrics.get('eval_hamming', -1):.4f} mAP {metrics.get('eval_mAP', -1):.4f}")


train_ds, valid_ds, test_ds = Clips(2000, 1), Clips(500, 2), Clips(500, 3)
rate = train_ds.y.mean(0)
model = Tagger(rate, ((1 - rate) / rate).sqrt())
trainer = Trainer(
    model=model, train_dataset=train_ds, eval_dataset=valid_ds, compute_metrics=compute_metrics,
    callbacks=[Echo()],
    args=TrainingArguments(
        output_dir="out/tags", num_train_epochs=8, per_device_train_batch_size=32, per_device_eval_batch_size=250,
        optim="adafactor", learning_rate=1e-2, lr_scheduler_type="linear", warmup_steps=30,
        eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
        metric_for_best_model="hamming", greater_is_better=False, logging_strategy="epoch",
        label_names=["labels"], report_to="none", disable_tqdm=True, use_cpu=True))
trainer.train()
res = trainer.predict(test_ds).metrics
base = float(torch.minimum(rate, 1 - rate).mean())
print(f"test hamming {res['test_hamming']:.4f} (majority {base:.4f})  mAP {res['test_mAP']:.3f} (prior {rate.mean():.3f})")
