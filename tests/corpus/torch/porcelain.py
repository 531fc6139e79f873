"""Classify porcelain patterns with a small ViT and the Trainer."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from datasets import Dataset, DatasetDict
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

STYLES = ["banded", "spotted", "chequered", "rimmed"]


@dataclass
class Config:
    size: int = 32
    n_train: int = 800
    n_test: int = 200
    epochs: int = 6
    batch_size: int = 32
    lr: float = 1e-3
    seed: int = 11


def draw_plate(style: int, size: int, rng: np.random.Generator) -> np.ndarray:
    yy, xx = np.mgrid[0:size, 0:size]
    if style == 0:
        mask = ((yy + rng.integers(0, 8)) // 4) % 2 == 0
    elif style == 1:
        oy, ox = rng.integers(0, 8, size=2)
        mask = ((yy + oy) % 8 - 4) ** 2 + ((xx + ox) % 8 - 4) ** 2 < 6
    elif style == 2:
        oy, ox = rng.integers(0, 8, size=2)
        mask = (((yy + oy) // 4) + ((xx + ox) // 4)) % 2 == 0
    else:
        r = np.hypot(yy - size / 2, xx - size / 2)
        mask = (r > rng.uniform(9, 11)) & (r < 14)
    ground = rng.integers(170, 240, size=3)
    paint = rng.integers(10, 120, size=3)
    img = np.where(mask[..., None], paint, ground) + rng.normal(0, 18, size=(size, size, 3))
    return img.clip(0, 255).astype(np.uint8)


def make_split(n: int, cfg: Config, rng: np.random.Generator) -> Dataset:
    labels = rng.integers(0, len(STYLES), size=n)
    images = [draw_plate(int(y), cfg.size, rng) for y in labels]
    return Dataset.from_dict({"image": images, "label": labels.tolist()})


class PlateCollator:
    """Turn raw uint8 plates into normalised pixel values, mirrored at random."""

    def __init__(self, mean: float = 0.5, std: float = 0.5) -> None:
        self.mean, self.std = mean, std

    def __call__(self, rows: list[dict]) -> dict[str, torch.Tensor]:
        imgs = np.stack([np.asarray(r["image"], dtype=np.float32) for r in rows]) / 255.0
        pixels = torch.from_numpy((imgs - self.mean) / self.std).permute(0, 3, 1, 2)
        flip = torch.rand(len(rows)) < 0.5
        pixels = torch.where(flip[:, None, None, None], pixels.flip(-1), pixels)
        return {"pixel_values": pixels.contiguous(), "labels": torch.tensor([r["label"] for r in rows])}


def compute_metrics(eval_pred) -> dict[str, float]:
    preds = eval_pred.predictions.argmax(-1)
    out = {"accuracy": float((preds == eval_pred.label_ids).mean())}
    for i, name in enumerate(STYLES):
        rows = eval_pred.label_ids == i
        out[f"recall_{name}"] = float((preds[rows] == i).mean()) if rows.any() else 0.0
    return out


def build_model(cfg: Config) -> ViTForImageClassification:
    return ViTForImageClassification(ViTConfig(
        image_size=cfg.size, patch_size=8, num_channels=3, hidden_size=64, num_hidden_layers=3,
        num_attention_heads=4, intermediate_size=128, num_labels=len(STYLES),
        id2label=dict(enumerate(STYLES)), label2id={s: i for i, s in enumerate(STYLES)},
    ))


def main() -> None:
    cfg = Config()
    set_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    data = DatasetDict(train=make_split(cfg.n_train, cfg, rng), test=make_split(cfg.n_test, cfg, rng))
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=cfg.epochs,
        per_device_train_batch_size=cfg.batch_size,
        learning_rate=cfg.lr,
        warmup_ratio=0.1,
        weight_decay=0.01,
        eval_strategy="epoch",
        logging_steps=25,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=cfg.seed,
    )
    trainer = Trainer(
        model=build_model(cfg),
        args=args,
        train_dataset=data["train"],
        eval_dataset=data["test"],
        data_collator=PlateCollator(),
        compute_metrics=compute_metrics,
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
