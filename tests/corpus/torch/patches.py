# ViT from scratch on the 8x8 digits
import numpy as np
import torch
from datasets import Dataset
from sklearn.datasets import load_digits
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

set_seed(0)
digits = load_digits()
ds = Dataset.from_dict({"image": digits.images.tolist(), "label": digits.target.tolist()})
ds = ds.train_test_split(test_size=0.2, seed=0)
mean, std = digits.images.mean(), digits.images.std()


def transform(batch):
    imgs = (torch.tensor(batch["image"], dtype=torch.float32) - mean) / std
    return {"pixel_values": list(imgs.unsqueeze(1)), "labels": batch["label"]}


def collate(rows):
    return {"pixel_values": torch.stack([r["pixel_values"] for r in rows]),
            "labels": torch.tensor([r["labels"] for r in rows])}


ds = ds.with_transform(transform)
config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=64, num_hidden_layers=3,
                   num_attention_heads=4, intermediate_size=128, num_labels=10)
model = ViTForImageClassification(config)
args = TrainingArguments(output_dir="vit_digits", remove_unused_columns=False, num_train_epochs=10,
                         per_device_train_batch_size=32, learning_rate=1e-3, lr_scheduler_type="cosine",
                         warmup_ratio=0.1, logging_steps=90, eval_strategy="epoch", save_strategy="no",
                         report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, data_collator=collate, train_dataset=ds["train"], eval_dataset=ds["test"],
                  compute_metrics=lambda p: {"accuracy": float(np.mean(p.predictions.argmax(1) == p.label_ids))})
trainer.train()
print(trainer.evaluate())
