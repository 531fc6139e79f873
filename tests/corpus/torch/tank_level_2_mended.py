"""Read the fill level (0..100 %) of a tank from a small camera image, HF ResNet + Trainer."""
import numpy as np
import torch
from transformers import (ResNetConfig, ResNetForImageClassification,
                          Trainer, TrainingArguments, set_seed)

SIZE = 28


def render(level, rng):
    img = rng.normal(0.5, 0.12, (3, SIZE, SIZE))
    left = rng.integers(3, 8)
    right = rng.integers(SIZE - 8, SIZE - 3)
    top, bottom = 3, SIZE - 3
    surface = bottom - level / 100 * (bottom - top)
    rows = np.arange(SIZE)
    cover = np.clip(rows + 1 - surface, 0, 1) * (rows < bottom)
    tint = rng.uniform(0.2, 0.5, 3)
    img[:, :, left:right] -= cover[None, :, None] * tint[:, None, None]
    img[:, top:bottom, left - 1] = 0.0
    img[:, top:bottom, right] = 0.0
    return img.astype(np.float32)


class TankImages(torch.utils.data.Dataset):
    def __init__(self, n, seed, mean=50.0, std=29.0):
        rng = np.random.default_rng(seed)
        self.levels = rng.uniform(0, 100, n)
        self.images = np.stack([render(v, rng) for v in self.levels])
        self.targets = ((self.levels - mean) / std).astype(np.float32)

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        return {"pixel_values": torch.from_numpy((self.images[i] - 0.5) / 0.25),
                "labels": torch.tensor(self.targets[i])}


def compute_metrics(pred):
    guess = pred.predictions.reshape(-1) * 29.0 + 50.0
    truth = pred.label_ids.reshape(-1) * 29.0 + 50.0
    err = guess - truth
    return {"mae": float(np.abs(err).mean()), "rmse": float(np.sqrt((err ** 2).mean()))}


def build_model():
    config = ResNetConfig(
        num_channels=3, embedding_size=12, hidden_sizes=[12, 24, 32], depths=[1, 1, 1],
        layer_type="basic", num_labels=1, problem_type="regression",
    )
    return ResNetForImageClassification(config)


def main():
    set_seed(3)
    train, valid, test = TankImages(700, 1), TankImages(150, 2), TankImages(300, 3)
    args = TrainingArguments(
        output_dir="out/tank_level",
        num_train_epochs=8,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        learning_rate=2e-3,
        lr_scheduler_type="linear",
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="mae",
        greater_is_better=False,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        seed=3,
    )
    trainer = Trainer(
        model=build_model(),
        args=args,
        train_dataset=train,
        eval_dataset=valid,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    result = trainer.evaluate(test, metric_key_prefix="test")
    naive = np.abs(test.levels - train.levels.mean()).mean()
    print(f"always the mean level: MAE {naive:.2f}")
    print(f"test MAE {result['test_mae']:.2f}  RMSE {result['test_rmse']:.2f}")
    trainer.save_model("out/tank_level/final")


if __name__ == "__main__":
    main()
