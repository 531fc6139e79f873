from dataclasses import dataclass
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed


@dataclass
class Settings:
    hidden: int = 64
    layers: int = 3
    heads: int = 4
    patch: int = 2
    batch: int = 32
    epochs: int = 12
    learning_rate: float = 1e-3
    optim: str = "adamw_torch"
    schedule: str = "linear"
    seed: int = 5


class DigitImages(torch.utils.data.Dataset):
    def __init__(self, images, targets):
        self.images = torch.tensor(images, dtype=torch.float32).unsqueeze(1)
        self.targets = targets

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, idx):
        return {"pixel_values": self.images[idx], "labels": int(self.targets[idx])}


def prepare(seed):
    digits = load_digits()
    scaled = digits.images / 8.0 - 1.0
    xtr, xte, ytr, yte = train_test_split(scaled, digits.target, test_size=0.25,
                                          stratify=digits.target, random_state=seed)
    return DigitImages(xtr, ytr), DigitImages(xte, yte)


def build_model(s):
    cfg = ViTConfig(image_size=8, patch_size=s.patch, num_channels=1, hidden_size=s.hidden,
                    num_hidden_layers=s.layers, num_attention_heads=s.heads,
                    intermediate_size=2 * s.hidden, num_labels=10,
                    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return ViTForImageClassification(cfg)


def build_args(s):
    return TrainingArguments(
        output_dir="out/digits",
        num_train_epochs=s.epochs,
        per_device_train_batch_size=s.batch,
        per_device_eval_batch_size=150,
        learning_rate=s.learning_rate,
        optim=s.optim,
        lr_scheduler_type=s.schedule,
        warmup_steps=40,
        logging_steps=100,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        seed=s.seed,
    )


def compute_metrics(pred):
    logits, labels = pred
    return {"accuracy": float(np.mean(np.argmax(logits, axis=1) == labels))}


if __name__ == "__main__":
    settings = Settings()
    set_seed(settings.seed)
    train_set, test_set = prepare(settings.seed)
    trainer = Trainer(model=build_model(settings), args=build_args(settings), train_dataset=train_set,
                      eval_dataset=test_set, compute_metrics=compute_metrics)
    trainer.train()
    final = trainer.evaluate()
    print(f"digits: accuracy {final['eval_accuracy']:.3f}, loss {final['eval_loss']:.3f} (chance 0.100)")
