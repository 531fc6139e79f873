import argparse
import tempfile
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--micro-batch", type=int, default=8)
    p.add_argument("--accumulate", type=int, default=4)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=1.5e-3)
    return p.parse_args()


class Mosaic(Dataset):
    """noisy tiles with three blocks; label is the colour of the blocks, or 3 for grey ones"""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.images, self.labels = [], []
        for _ in range(n):
            img = rng.normal(0, 0.2, (3, 32, 32))
            q = int(rng.integers(0, 4))
            for _ in range(3):
                r, c = 4 * rng.integers(0, 7, 2)
                img[[q] if q < 3 else [0, 1, 2], r:r + 8, c:c + 8] += 1.5 if q < 3 else 0.8
            self.images.append(torch.tensor(img, dtype=torch.float32))
            self.labels.append(q)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"pixel_values": self.images[i], "labels": self.labels[i]}


def main():
    opt = get_args()
    set_seed(29)
    model = ViTForImageClassification(ViTConfig(image_size=32, patch_size=8, hidden_size=48, num_hidden_layers=2,
                                                num_attention_heads=4, intermediate_size=96, num_labels=4))
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            out, per_device_train_batch_size=opt.micro_batch, gradient_accumulation_steps=opt.accumulate,
            per_device_eval_batch_size=64, num_train_epochs=opt.epochs, learning_rate=opt.lr,
            gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": False},
            lr_scheduler_type="cosine", warmup_ratio=0.15, max_grad_norm=0.5, logging_strategy="epoch",
            eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
            metric_for_best_model="accuracy", report_to="none", seed=29)
        trainer = Trainer(model, args, train_dataset=Mosaic(512, 0), eval_dataset=Mosaic(128, 1),
                          compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(1) == p.label_ids).mean())})
        trainer.train()
        print(trainer.evaluate())


if __name__ == "__main__":
    main()
