"""Small keyword spotter on synthetic spectrograms (16 mel bands x 48 frames)."""
import math
import random

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

CFG = {
    "seed": 3,
    "classes": ["up", "down", "stop", "go", "left", "right"],
    "n_mels": 16,
    "n_frames": 48,
    "train_per_class": 110,
    "test_per_class": 50,
    "batch": 32,
    "epochs": 12,
    "peak_lr": 4e-3,
    "spec_augment": {
        "freq_masks": 1,
        "freq_width": 3,
        "time_masks": 4,
        "time_width": 6,
    },
}


def synth(label, rng):
    """A gliding formant whose start, end and onset depend on the word."""
    n_mels, n_frames = CFG["n_mels"], CFG["n_frames"]
    start = [3, 12, 8, 4, 10, 6][label]
    end = [12, 3, 8, 4, 5, 13][label]
    spec = rng.normal(0, 0.6, size=(n_mels, n_frames))
    dur = rng.integers(22, 34)
    onset = rng.integers(0, n_frames - dur)
    for t in range(dur):
        centre = start + (end - start) * t / dur + rng.normal(0, 0.5)
        spec[:, onset + t] += 2.0 * np.exp(-0.5 * ((np.arange(n_mels) - centre) / 1.3) ** 2)
    return spec


def build_split(per_class, rng):
    xs, ys = [], []
    for k in range(len(CFG["classes"])):
        for _ in range(per_class):
            xs.append(synth(k, rng))
            ys.append(k)
    x = torch.tensor(np.stack(xs), dtype=torch.float32).unsqueeze(1)
    return (x - x.mean()) / x.std(), torch.tensor(ys)


class SpecAugment:
    def __init__(self, freq_masks, freq_width, time_masks, time_width):
        self.freq = (freq_masks, freq_width)
        self.time = (time_masks, time_width)

    def __call__(self, batch):
        out = batch.clone()
        _, _, n_mels, n_frames = out.shape
        for spec in out:
            for _ in range(self.freq[0]):
                w = random.randint(0, self.freq[1])
                f0 = random.randint(0, n_mels - w)
                spec[:, f0:f0 + w, :] = 0.0
            for _ in range(self.time[0]):
                w = random.randint(self.time[1] // 2, self.time[1])
                t0 = random.randint(0, n_frames - w)
                spec[:, :, t0:t0 + w] = 0.0
        return out


class Spotter(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d((1, 2)),
        )
        self.head = nn.Linear(24 * 8, n_classes)

    def forward(self, x):
        h = self.body(x).amax(dim=3)
        return self.head(h.flatten(1))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    random.seed(CFG["seed"])
    torch.manual_seed(CFG["seed"])
    rng = np.random.default_rng(CFG["seed"])
    x_tr, y_tr = build_split(CFG["train_per_class"], rng)
    x_te, y_te = build_split(CFG["test_per_class"], rng)
    augment = SpecAugment(**CFG["spec_augment"])
    model = Spotter(len(CFG["classes"]))
    steps = math.ceil(len(x_tr) / CFG["batch"]) * CFG["epochs"]
    opt = torch.optim.AdamW(model.parameters(), lr=CFG["peak_lr"])
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, CFG["peak_lr"], total_steps=steps)
    for epoch in range(CFG["epochs"]):
        model.train()
        running = 0.0
        for idx in torch.randperm(len(x_tr)).split(CFG["batch"]):
            loss = F.cross_entropy(model(augment(x_tr[idx])), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            running += loss.item() * len(idx)
        print(f"epoch {epoch:2d}  loss {running / len(x_tr):.3f}")
    print(f"train accuracy {accuracy(model, x_tr, y_tr):.3f}  test accuracy {accuracy(model, x_te, y_te):.3f}")


if __name__ == "__main__":
    main()
