"""Small vision transformer on handwritten digits, augmented on the fly."""
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from datasets import Dataset
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed


@dataclass
class Settings:
    seed: int = 3
    epochs: int = 15
    batch_size: int = 32
    learning_rate: float = 1e-3
    width: int = 64
    depth: int = 3
    patch: int = 2


def load_splits(seed):
    digits = load_digits()
    images = (digits.images * 15).astype(np.uint8)
    x_train, x_test, y_train, y_test = train_test_split(
        images, digits.target, test_size=0.25, stratify=digits.target, random_state=seed
    )
    train = Dataset.from_dict({"image": x_train.tolist(), "label": y_train.tolist()})
    test = Dataset.from_dict({"image": x_test.tolist(), "label": y_test.tolist()})
    return train, test


class Pixels:
    """Turns a batch of rows into normalised pixel tensors, shifted by up to one pixel when training."""

    def __init__(self, training):
        self.training = training

    def one(self, image):
        pixels = torch.tensor(image, dtype=torch.float32) / 255.0
        if self.training:
            dy, dx = np.random.randint(-1, 2, size=2)
            padded = torch.nn.functional.pad(pixels, (1, 1, 1, 1))
            pixels = padded[1 + dy:9 + dy, 1 + dx:9 + dx]
        return ((pixels - 0.5) / 0.5).unsqueeze(0)

    def __call__(self, batch):
        return {"pixel_values": [self.one(i) for i in batch["image"]], "labels": batch["label"]}


def collate(rows):
    return {
        "pixel_values": torch.stack([r["pixel_values"] for r in rows]),
        "labels": torch.tensor([r["labels"] for r in rows]),
    }


def compute_metrics(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


def main(cfg=Settings()):
    set_seed(cfg.seed)
    train, test = load_splits(cfg.seed)
    train.set_transform(Pixels(training=True))
    test.set_transform(Pixels(training=False))

    model = ViTForImageClassification(
        ViTConfig(
            image_size=8,
            patch_size=cfg.patch,
            num_channels=1,
            hidden_size=cfg.width,
            num_hidden_layers=cfg.depth,
            num_attention_heads=4,
            intermediate_size=2 * cfg.width,
            num_labels=10,
        )
    )
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out,
            num_train_epochs=cfg.epochs,
            per_device_train_batch_size=cfg.batch_size,
            per_device_eval_batch_size=128,
            learning_rate=cfg.learning_rate,
            warmup_ratio=0.1,
            eval_strategy="epoch",
            save_strategy="no",
            logging_steps=40,
            report_to="none",
            use_cpu=True,
            seed=cfg.seed,
        )
        trainer = Trainer(
            model=model,
            args=args,
            data_collator=collate,
            train_dataset=train,
            eval_dataset=test,
            compute_metrics=compute_metrics,
        )
        trainer.train()
        print(trainer.evaluate())


if __name__ == "__main__":
    main()
