"""1-D CNN on pump vibration snippets. Trainer with our own optimizer and a warm-up / cosine schedule."""
import math

import numpy as np
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

STATES = ["healthy", "cavitation", "misaligned", "bearing", "loose_foot"]
PEAK_LR = 2e-3
EPOCHS, BATCH = 6, 32


def snippet(state, g, length=256):
    t = np.arange(length) / 512
    f0 = g.uniform(24, 30)
    x = g.uniform(0.6, 1.4) * np.sin(2 * np.pi * (f0 * t + g.random()))
    if state == 1:                                              # broadband hiss in bursts
        x += (0.55 * g.normal(size=length)) * (0.5 + 0.5 * np.sin(2 * np.pi * 9 * t + g.uniform(0, 6)))
    elif state == 2:                                            # second harmonic
        x += g.uniform(0.35, 0.7) * np.sin(2 * np.pi * (2 * f0 * t + g.random()))
    elif state == 3:                                            # periodic knocks
        k = (np.arange(length) + g.integers(0, 40)) % g.integers(34, 42)
        x += 1.3 * np.exp(-k / 2.5) * np.cos(k * 2.2)
    elif state == 4:                                            # half order
        x += g.uniform(0.4, 0.8) * np.sin(2 * np.pi * (0.5 * f0 * t + g.random()))
    return x + 0.35 * g.normal(size=length)


class Snippets(Dataset):
    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.y = g.integers(0, len(STATES), n)
        self.x = np.stack([snippet(s, g) for s in self.y]).astype(np.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"signal": torch.from_numpy(self.x[i]), "labels": int(self.y[i])}


def conv(a, b, k, stride):
    return nn.Sequential(nn.Conv1d(a, b, k, stride, padding=k // 2, bias=False), nn.BatchNorm1d(b), nn.SiLU())


class VibrationNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(conv(1, 16, 15, 2), conv(16, 32, 9, 2), conv(32, 48, 5, 2), conv(48, 64, 5, 2))
        self.fc = nn.Linear(128, len(STATES))
        self.loss_fn = nn.CrossEntropyLoss(label_smoothing=0.02)

    def forward(self, signal, labels=None):
        h = self.trunk(signal.unsqueeze(1))
        logits = self.fc(torch.cat([h.mean(-1), h.amax(-1)], dim=1))
        return {"loss": self.loss_fn(logits, labels), "logits": logits} if labels is not None else {"logits": logits}


def make_schedule(optimizer, total, warmup):
    def curve(step):
        if step < warmup:
            return (step + 1) / warmup
        progress = (step - warmup) / max(1, total - warmup)
        return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress))

    return LambdaLR(optimizer, lr_lambda=curve)


class OneLine(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kw):
        keep = {k: round(v, 4) for k, v in metrics.items() if k.endswith(("loss", "accuracy", "macro"))}
        print(f"step {state.global_step}: {keep}")


def score(p):
    guess = p.predictions.argmax(-1)
    per_class = [(guess[p.label_ids == c] == c).mean() for c in range(len(STATES))]
    return {"accuracy": float((guess == p.label_ids).mean()), "recall_macro": float(np.mean(per_class))}


def main():
    set_seed(13)
    train, valid, test = Snippets(2400, 0), Snippets(500, 1), Snippets(1000, 2)
    model = VibrationNet()
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.02}, {"params": plain, "weight_decay": 0.0}], lr=PEAK_LR)
    steps = EPOCHS * math.ceil(len(train) / BATCH)
    scheduler = make_schedule(optimizer, steps, warmup=steps // 10)

    args = TrainingArguments(
        output_dir="out/pump", num_train_epochs=EPOCHS, per_device_train_batch_size=BATCH, per_device_eval_batch_size=250,
        eval_strategy="epoch", save_strategy="no", logging_steps=75, max_grad_norm=1.0, report_to="none",
        disable_tqdm=True, use_cpu=True, seed=13)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid, compute_metrics=score,
                      optimizers=(optimizer, scheduler), callbacks=[OneLine()])
    trainer.train()
    final = trainer.evaluate(test, metric_key_prefix="test")
    print(f"TEST accuracy {final['test_accuracy']:.3f}  macro recall {final['test_recall_macro']:.3f}  "
          f"most frequent {np.bincount(test.y).max() / len(test):.3f}")


if __name__ == "__main__":
    main()
