"""Sound-event classifier on log-mel patches with SpecAugment."""
from __future__ import annotations

import random
import time
from typing import Iterator

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

EVENTS = ["clap", "siren", "hum", "whistle", "knock"]
N_MELS, N_FRAMES = 32, 40


def synth_patch(event: int, rng: np.random.Generator) -> np.ndarray:
    spec = rng.normal(0, 0.5, (N_MELS, N_FRAMES))
    t = np.arange(N_FRAMES)
    f = np.arange(N_MELS)[:, None]
    if event == 0:
        for start in rng.integers(0, N_FRAMES - 3, 2):
            spec[:, start:start + 2] += 1.6
    elif event == 1:
        centre = 16 + 9 * np.sin(2 * np.pi * t / rng.uniform(14, 22) + rng.uniform(0, 6))
        spec += 1.8 * np.exp(-((f - centre) ** 2) / 4)
    elif event == 2:
        spec += 1.5 * np.exp(-((f - rng.uniform(3, 8)) ** 2) / 6)
    elif event == 3:
        slope = rng.uniform(0.2, 0.5) * rng.choice([-1, 1])
        spec += 1.8 * np.exp(-((f - (20 + slope * (t - 20))) ** 2) / 3)
    else:
        for start in range(int(rng.integers(0, 6)), N_FRAMES - 2, 8):
            spec[:14, start:start + 2] += 1.6
    return spec.astype(np.float32)


class EventPatches(Dataset):
    def __init__(self, n: int, seed: int, augment: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.labels = torch.from_numpy(rng.integers(0, len(EVENTS), n))
        specs = np.stack([synth_patch(int(e), rng) for e in self.labels])
        self.specs = torch.from_numpy(specs)
        self.augment = augment

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        spec = self.specs[index]
        if self.augment:
            spec = spec_augment(spec)
        return spec.unsqueeze(0), self.labels[index]


def spec_augment(spec: torch.Tensor, max_f: int = 7, max_t: int = 9, n_masks: int = 2) -> torch.Tensor:
    """Two frequency and two time masks, filled with the background level."""
    for _ in range(n_masks):
        w = random.randint(0, max_f)
        f0 = random.randint(0, N_MELS - w)
        spec[f0:f0 + w, :] = 0.0
        w = random.randint(0, max_t)
        t0 = random.randint(0, N_FRAMES - w)
        spec[:, t0:t0 + w] = 0.0
    return spec


class SoundNet(nn.Module):
    def __init__(self, n_classes: int, width: int = 16) -> None:
        super().__init__()
        self.features = nn.Sequential(*self._stages(width))
        self.dropout = nn.Dropout(0.2)
        self.classifier = nn.Linear(width * 4, n_classes)

    @staticmethod
    def _stages(width: int) -> Iterator[nn.Module]:
        c_in = 1
        for c_out in (width, width * 2, width * 4):
            yield nn.Conv2d(c_in, c_out, 3, padding=1, bias=False)
            yield nn.BatchNorm2d(c_out)
            yield nn.ReLU(inplace=True)
            yield nn.MaxPool2d(2)
            c_in = c_out

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.features(x).amax(dim=(2, 3))
        return self.classifier(self.dropout(h))


class Trainer:
    def __init__(self, model: nn.Module, epochs: int, lr: float) -> None:
        self.model = model
        self.epochs = epochs
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-2)
        self.ema_loss: float | None = None

    def fit(self, train: DataLoader, test: DataLoader) -> None:
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, self.epochs * len(train), 1e-4)
        for epoch in range(self.epochs):
            began = time.time()
            self.model.train()
            losses = []
            for spec, label in train:
                with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
                    loss = F.cross_entropy(self.model(spec), label, label_smoothing=0.05)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
                scheduler.step()
                losses.append(loss.item())
            if epoch % 2 == 1:
                print(f"epoch {epoch + 1:3d}/{self.epochs} loss {np.mean(losses):.4f} "
                      f"test acc {self.evaluate(test):.3f} ({time.time() - began:.1f}s)")

    @torch.no_grad()
    def evaluate(self, loader: DataLoader) -> float:
        self.model.eval()
        hits = sum((self.model(s).argmax(1) == y).sum().item() for s, y in loader)
        return hits / len(loader.dataset)


def main() -> None:
    random.seed(9)
    torch.manual_seed(9)
    train_set = EventPatches(500, seed=1, augment=True)
    test_set = EventPatches(300, seed=2)
    train = DataLoader(train_set, batch_size=32, shuffle=True)
    test = DataLoader(test_set, batch_size=100)
    trainer = Trainer(SoundNet(len(EVENTS)), epochs=24, lr=2e-3)
    trainer.fit(train, test)
    print("final accuracy:", round(trainer.evaluate(test), 4))


if __name__ == "__main__":
    main()
