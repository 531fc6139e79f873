"""Tiny ViT on drawn shapes. Circles are rare in our data, so I use a focal loss."""
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

SIZE = 32
NAMES = ["square", "cross", "stripes", "circle"]
SHARE = [0.35, 0.3, 0.25, 0.1]


def draw(kind, rng):
    """One grey picture with noise, float32 [3, SIZE, SIZE] around zero."""
    img = rng.normal(0, 0.15, (SIZE, SIZE))
    cy, cx = rng.integers(10, SIZE - 10, 2)
    r = rng.integers(6, 10)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    if kind == 0:
        img[max(cy - r, 0):cy + r, max(cx - r, 0):cx + r] += 1
    elif kind == 1:
        img[cy - 1:cy + 2, max(cx - r, 0):cx + r] += 1
        img[max(cy - r, 0):cy + r, cx - 1:cx + 2] += 1
    elif kind == 2:
        img[(yy // 3) % 2 == 0] += 1
    else:
        dist = np.sqrt((yy - cy) ** 2 + (xx - cx) ** 2)
        img[(dist < r) & (dist > r - 3)] += 1
    return np.repeat(img[None], 3, 0).astype("float32")


class Shapes(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.choice(4, n, p=SHARE)
        self.images = np.stack([draw(k, rng) for k in self.labels])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"pixel_values": torch.from_numpy(self.images[i]), "labels": int(self.labels[i])}


class FocalTrainer(Trainer):
    gamma = 2.0

    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        logp = torch.log_softmax(outputs.logits, dim=-1)
        logp = logp.gather(1, labels[:, None]).squeeze(1)
        loss = (-(1 - logp.exp()) ** self.gamma * logp).mean()
        return (loss, outputs) if return_outputs else loss


def compute_metrics(pred):
    guess = pred.predictions.argmax(1)
    result = {"accuracy": (guess == pred.label_ids).mean()}
    for k, name in enumerate(NAMES):
        result[f"recall_{name}"] = (guess[pred.label_ids == k] == k).mean()
    return result


if __name__ == "__main__":
    set_seed(5)
    config = ViTConfig(
        image_size=SIZE, patch_size=8, hidden_size=64, num_hidden_layers=3, num_attention_heads=4, intermediate_size=128,
        num_labels=4, id2label=dict(enumerate(NAMES)), label2id={n: i for i, n in enumerate(NAMES)},
    )
    model = ViTForImageClassification(config)
    args = TrainingArguments(
        output_dir="vit_shapes", per_device_train_batch_size=32, per_device_eval_batch_size=100, learning_rate=1e-3,
        num_train_epochs=8, warmup_steps=30, logging_steps=30, save_strategy="no", eval_strategy="no", report_to="none",
        disable_tqdm=True,
    )
    trainer = FocalTrainer(
        model=model, args=args, train_dataset=Shapes(1600, 0), eval_dataset=Shapes(300, 1), compute_metrics=compute_metrics,
    )
    trainer.train()
    for key, value in trainer.evaluate().items():
        print(key, round(float(value), 3))
