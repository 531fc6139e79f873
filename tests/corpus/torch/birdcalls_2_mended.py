import tempfile

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

MELS, FRAMES, SPECIES = 32, 48, 5


def synth_call(kind, rng):
    t = np.arange(FRAMES)
    base = 6 + 4 * kind + rng.normal(0, 0.8)
    shape = [0.12 * t, -0.12 * t, 3 * np.sin(t / 4), 0 * t, 3 * np.sign(np.sin(t / 6))][kind]
    track = base + shape + rng.normal(0, 0.3, FRAMES)
    start, dur = rng.integers(0, 16), rng.integers(22, 32)
    mel = np.arange(MELS)[:, None]
    spec = np.exp(-0.5 * ((mel - track[None, :]) / 1.3) ** 2)
    spec = spec * ((t >= start) & (t < start + dur))
    spec = spec * rng.uniform(1.0, 2.0) + rng.gamma(2.0, 0.12, (MELS, FRAMES))
    return np.log1p(spec)


class SpecAugment:
    def __init__(self, freq_width, time_width, n_masks, seed=0):
        self.freq_width = freq_width
        self.time_width = time_width
        self.n_masks = n_masks
        self.rng = np.random.default_rng(seed)

    def __call__(self, spec):
        spec = spec.copy()
        fill = spec.mean()
        for _ in range(self.n_masks):
            f = self.rng.integers(self.freq_width // 2, self.freq_width + 1)
            f0 = self.rng.integers(0, MELS - f + 1)
            spec[f0:f0 + f, :] = fill
            w = self.rng.integers(self.time_width // 2, self.time_width + 1)
            t0 = self.rng.integers(0, FRAMES - w + 1)
            spec[:, t0:t0 + w] = fill
        return spec


class CallSet(Dataset):
    def __init__(self, n, seed, transform=None):
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, SPECIES, n)
        self.x = np.stack([synth_call(k, rng) for k in self.y]).astype(np.float32)
        self.x = (self.x - 0.3) / 0.2
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        spec = self.x[i] if self.transform is None else self.transform(self.x[i])
        return {"spectrogram": torch.from_numpy(spec), "labels": int(self.y[i])}


class CallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Linear(24 * 8, 64), nn.ReLU(), nn.Linear(64, SPECIES))

    def forward(self, spectrogram, labels=None):
        h = self.body(spectrogram.unsqueeze(1)).mean(dim=3).flatten(1)
        logits = self.head(h)
        out = {"logits": logits}
        if labels is not None:
            out = {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}
        return out


def report(pred):
    z = pred.predictions - pred.predictions.max(1, keepdims=True)
    p = np.exp(z.astype(np.float64))
    p /= p.sum(1, keepdims=True)
    y = pred.label_ids
    return {
        "accuracy": accuracy_score(y, p.argmax(1)),
        "macro_f1": f1_score(y, p.argmax(1), average="macro"),
        "auc": roc_auc_score(y, p, multi_class="ovr"),
        "log_loss": log_loss(y, p, labels=range(SPECIES)),
    }


set_seed(5)
augment = SpecAugment(freq_width=4, time_width=6, n_masks=1)
train, valid = CallSet(1200, 1, augment), CallSet(500, 2)
args = TrainingArguments(
    output_dir=tempfile.mkdtemp(), num_train_epochs=8, per_device_train_batch_size=50,
    per_device_eval_batch_size=250, learning_rate=3e-3, lr_scheduler_type="cosine",
    eval_strategy="epoch", save_strategy="no", logging_steps=60, report_to=[], disable_tqdm=True,
)
trainer = Trainer(model=CallNet(), args=args, train_dataset=train, eval_dataset=valid, compute_metrics=report)
trainer.train()
final = trainer.evaluate()
for name in ("loss", "accuracy", "macro_f1", "auc", "log_loss"):
    print(f"{name}: {final['eval_' + name]:.4f}")
