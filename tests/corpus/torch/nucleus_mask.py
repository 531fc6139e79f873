"""Nucleus segmentation on synthetic microscope fields with the HF Trainer and a small conv net."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

SIDE = 40
set_seed(7)


def render_field(rng):
    """Returns a grey image and its mask the way the annotation tool exports them (8-bit PNG levels)."""
    yy, xx = np.mgrid[:SIDE, :SIDE]
    img = rng.normal(60, 10, (SIDE, SIDE)) + rng.uniform(-15, 15)
    mask = np.zeros((SIDE, SIDE), np.uint8)
    for _ in range(rng.integers(1, 5)):
        cy, cx = rng.uniform(5, SIDE - 5, 2)
        ry, rx = rng.uniform(3, 7, 2)
        d = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2
        img += 75 * np.exp(-(d**2))
        mask[d < 1] = 255
    # bright debris that is not a nucleus
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.integers(2, SIDE - 2, 2)
        img[cy - 1 : cy + 1, cx - 1 : cx + 1] += 120
    img += rng.normal(0, 28, img.shape)
    return np.clip(img, 0, 255).astype(np.uint8), mask


class FieldDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        pairs = [render_field(rng) for _ in range(n)]
        self.images = np.stack([p[0] for p in pairs])
        self.masks = np.stack([p[1] for p in pairs])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        pixels = torch.from_numpy(self.images[i]).float().unsqueeze(0) / 127.5 - 1.0
        target = torch.from_numpy(self.masks[i]).float()
        return {"pixel_values": pixels, "labels": target}


class SmallUNet(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.enc1 = self._block(1, w)
        self.enc2 = self._block(w, 2 * w)
        self.mid = self._block(2 * w, 2 * w)
        self.up1 = nn.ConvTranspose2d(2 * w, 2 * w, 2, stride=2)
        self.dec1 = self._block(4 * w, w)
        self.up2 = nn.ConvTranspose2d(w, w, 2, stride=2)
        self.dec2 = self._block(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)
        self.pool = nn.MaxPool2d(2)
        self.criterion = nn.BCEWithLogitsLoss()

    @staticmethod
    def _block(i, o):
        return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())

    def forward(self, pixel_values, labels=None):
        a = self.enc1(pixel_values)
        b = self.enc2(self.pool(a))
        c = self.mid(self.pool(b))
        d = self.dec1(torch.cat([self.up1(c), b], 1))
        e = self.dec2(torch.cat([self.up2(d), a], 1))
        logits = self.out(e).squeeze(1)
        loss = self.criterion(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def iou_metrics(ev):
    pred, truth = ev.predictions > 0, ev.label_ids > 0.5
    inter = (pred & truth).sum((1, 2))
    union = (pred | truth).sum((1, 2))
    return {"iou": float((inter / np.maximum(union, 1)).mean()), "predicted_area": float(pred.mean())}


train_set, val_set = FieldDataset(480, seed=1), FieldDataset(150, seed=2)
args = TrainingArguments(
    output_dir="out/nucleus_mask",
    per_device_train_batch_size=16,
    per_device_eval_batch_size=50,
    num_train_epochs=6,
    learning_rate=4e-3,
    lr_scheduler_type="cosine",
    warmup_steps=10,
    weight_decay=0.01,
    eval_strategy="epoch",
    logging_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    use_cpu=True,
    seed=7,
)
trainer = Trainer(
    model=SmallUNet(), args=args, train_dataset=train_set, eval_dataset=val_set, compute_metrics=iou_metrics
)
trainer.train()

scores = trainer.evaluate()
truth = val_set.masks > 127
otsu_like = val_set.images > 105
base = (otsu_like & truth).sum((1, 2)) / np.maximum((otsu_like | truth).sum((1, 2)), 1)
print(f"validation IoU {scores['eval_iou']:.3f}   grey threshold {base.mean():.3f}   all-foreground {truth.mean():.3f}")
