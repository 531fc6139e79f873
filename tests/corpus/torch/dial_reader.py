"""Read the needle angle of an analogue gauge with a tiny ViT. The target is (cos, sin) of the angle, the
figure that counts is the mean absolute angular error in degrees."""
import numpy as np
import torch
from transformers import (EarlyStoppingCallback, Trainer, TrainingArguments, ViTConfig, ViTForImageClassification,
                          set_seed)

SIZE = 24


def draw(rng):
    theta = rng.uniform(-np.pi, np.pi)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    cy, cx = SIZE / 2 - 0.5 + rng.uniform(-1, 1, 2)
    dy, dx = cy - yy, xx - cx
    along = dx * np.cos(theta) + dy * np.sin(theta)
    across = -dx * np.sin(theta) + dy * np.cos(theta)
    needle = np.exp(-(across / 1.1) ** 2) * (along > -1) * (along < 9.5)
    rim = np.exp(-((np.hypot(dx, dy) - 10.5) / 0.7) ** 2)
    light = 1 + 0.3 * (xx / SIZE - 0.5) * rng.uniform(-1, 1)
    img = (0.9 * needle + 0.4 * rim) * light + 0.1 * rng.standard_normal((SIZE, SIZE))
    return img.astype(np.float32), theta


class Gauges(torch.utils.data.Dataset):
    def __init__(self, n, seed, train):
        rng = np.random.default_rng(seed)
        drawn = [draw(rng) for _ in range(n)]
        self.img = torch.from_numpy(np.stack([d[0] for d in drawn])).unsqueeze(1)
        self.theta = torch.tensor([d[1] for d in drawn], dtype=torch.float32)
        self.train = train

    def __len__(self):
        return len(self.theta)

    def __getitem__(self, i):
        img, th = self.img[i], self.theta[i]
        if self.train:
            k = int(torch.randint(0, 4, (1,)))        # quarter turns (counter-clockwise) move the needle too
            img = torch.rot90(img, k, (1, 2))
            th = th + k * np.pi / 2
            if torch.rand(1) < 0.5:                   # mirror left-right
                img = img.flip(2)
                th = np.pi - th
        return {"pixel_values": (img - 0.15) / 0.3, "labels": torch.stack([torch.cos(th), torch.sin(th)])}


def angular_error(p):
    guess = np.arctan2(p.predictions[:, 1], p.predictions[:, 0])
    gold = np.arctan2(p.label_ids[:, 1], p.label_ids[:, 0])
    diff = np.angle(np.exp(1j * (guess - gold)))
    deg = np.degrees(np.abs(diff))
    return {"mae_deg": float(deg.mean()), "within_10": float((deg < 10).mean())}


def main():
    set_seed(31)
    train, val, test = Gauges(1500, 1, True), Gauges(200, 2, False), Gauges(300, 3, False)
    config = ViTConfig(image_size=SIZE, patch_size=4, num_channels=1, hidden_size=48, num_hidden_layers=2,
                       num_attention_heads=4, intermediate_size=96, hidden_dropout_prob=0.0,
                       attention_probs_dropout_prob=0.0, initializer_range=0.1, num_labels=2,
                       problem_type="regression")
    model = ViTForImageClassification(config)
    args = TrainingArguments(
        output_dir="out/gauge",
        num_train_epochs=8,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        learning_rate=2e-3,
        lr_scheduler_type="cosine",
        warmup_ratio=0.1,
        weight_decay=0.0,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        save_only_model=True,
        load_best_model_at_end=True,
        metric_for_best_model="mae_deg",
        greater_is_better=False,
        logging_strategy="epoch",
        report_to="none",
        disable_tqdm=True,
        seed=31,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=val, compute_metrics=angular_error,
                      callbacks=[EarlyStoppingCallback(early_stopping_patience=4)])
    trainer.train()
    print("best checkpoint metric:", trainer.state.best_metric)
    out = trainer.predict(test).metrics
    print(f"guessing blindly: 90.0 degrees; test MAE {out['test_mae_deg']:.2f} degrees, "
          f"within 10 degrees {out['test_within_10']:.3f}")


if __name__ == "__main__":
    main()
