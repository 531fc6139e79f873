"""
ViT on 8x8 digits labelled by a crowd. Some annotators are sloppy; each label carries the reliability
of its annotator (estimated from gold questions) and the loss is weighted with it.
"""
import logging

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, f1_score
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

logger = logging.getLogger(__name__)


class CrowdDigits(Dataset):
    def __init__(self, images, labels, weights=None):
        self.images = torch.as_tensor(images, dtype=torch.float32).unsqueeze(1) / 8.0 - 1.0
        self.labels = torch.as_tensor(labels)
        self.weights = None if weights is None else torch.as_tensor(weights, dtype=torch.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        item = {"pixel_values": self.images[i], "labels": self.labels[i]}
        if self.weights is not None:
            item["weight"] = self.weights[i]
        return item


def crowd_labels(y, rng, n_annotators=12):
    """Five of the twelve annotators mix up neighbouring digits most of the time."""
    who = rng.integers(0, n_annotators, size=len(y))
    sloppy = who < 5
    slip = sloppy & (rng.random(len(y)) < 0.85)
    noisy = np.where(slip, (y + 1) % 10, y)
    gold_accuracy = np.where(sloppy, 0.15, 0.98)
    weights = np.clip((gold_accuracy - 0.1) / 0.9, 0.02, 1.0)
    return noisy, weights


class ReliabilityTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        weight = inputs.pop("weight", None)
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        losses = F.cross_entropy(outputs.logits, labels, reduction="none")
        if weight is not None:
            loss = (losses * weight).sum() / weight.sum()
        else:
            loss = losses.mean()
        return (loss, {"loss": loss, "logits": outputs.logits}) if return_outputs else loss


def compute_metrics(eval_pred):
    pred = eval_pred.predictions.argmax(-1)
    return {"accuracy": accuracy_score(eval_pred.label_ids, pred),
            "macro_f1": f1_score(eval_pred.label_ids, pred, average="macro")}


def main():
    logging.basicConfig(level=logging.INFO)
    set_seed(17)
    rng = np.random.default_rng(17)
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    tr, te = order[:1350], order[1350:]
    noisy, weights = crowd_labels(digits.target[tr], rng)
    logger.info("agreement of crowd labels with truth: %.3f", (noisy == digits.target[tr]).mean())

    train_ds = CrowdDigits(digits.images[tr], noisy, weights)
    test_ds = CrowdDigits(digits.images[te], digits.target[te])

    config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=48, num_hidden_layers=2,
                       num_attention_heads=4, intermediate_size=96, num_labels=10)
    model = ViTForImageClassification(config)

    args = TrainingArguments(
        output_dir="out/crowd_digits",
        num_train_epochs=14,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=256,
        learning_rate=2e-3,
        warmup_ratio=0.1,
        lr_scheduler_type="linear",
        weight_decay=0.01,
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="epoch",
        label_names=["labels"],
        remove_unused_columns=False,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = ReliabilityTrainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds,
                                 compute_metrics=compute_metrics)
    trainer.train()
    res = trainer.evaluate()
    print(f"test accuracy {res['eval_accuracy']:.3f}  macro F1 {res['eval_macro_f1']:.3f}  (chance 0.10)")


if __name__ == "__main__":
    main()
