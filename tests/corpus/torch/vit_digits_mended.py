"""Tiny vision transformer on the 8x8 digits, with our own optimizer and step decay."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.optim.lr_scheduler import StepLR
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

EPOCHS = 9
BATCH = 32


class DigitImages(torch.utils.data.Dataset):
    def __init__(self, images, targets):
        self.pixels = torch.tensor((images - 8.0) / 8.0, dtype=torch.float32).unsqueeze(1)
        self.targets = torch.tensor(targets, dtype=torch.long)

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        return {"pixel_values": self.pixels[i], "labels": self.targets[i]}


def get_data():
    digits = load_digits()
    tr_x, te_x, tr_y, te_y = train_test_split(
        digits.images, digits.target, test_size=0.25, random_state=2, stratify=digits.target)
    return DigitImages(tr_x, tr_y), DigitImages(te_x, te_y)


def get_model():
    config = ViTConfig(
        image_size=8, patch_size=2, num_channels=1,
        hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=10,
    )
    return ViTForImageClassification(config)


def param_groups(model, wd=0.02):
    decay = [p for n, p in model.named_parameters() if p.ndim > 1]
    rest = [p for n, p in model.named_parameters() if p.ndim <= 1]
    return [{"params": decay, "weight_decay": wd}, {"params": rest, "weight_decay": 0.0}]


def metrics(output):
    return {"acc": float((output.predictions.argmax(-1) == output.label_ids).mean())}


def main():
    set_seed(13)
    train_set, test_set = get_data()
    model = get_model()

    optimizer = torch.optim.AdamW(param_groups(model), lr=2e-3)
    # halve the rate every three epochs
    steps_per_epoch = -(-len(train_set) // BATCH)
    scheduler = StepLR(optimizer, step_size=3 * steps_per_epoch, gamma=0.5)

    args = TrainingArguments(
        output_dir="out/vit",
        num_train_epochs=EPOCHS,
        per_device_train_batch_size=BATCH,
        per_device_eval_batch_size=150,
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="epoch",
        max_grad_norm=1.0,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=train_set, eval_dataset=test_set,
        compute_metrics=metrics, optimizers=(optimizer, scheduler),
    )
    trainer.train()
    acc = trainer.evaluate()["eval_acc"]
    print(f"held-out accuracy {acc:.3f}; guessing {np.bincount(test_set.targets).max() / len(test_set):.3f}")


if __name__ == "__main__":
    main()
