import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(23)
K = 6


def sky(n, seed):
    g = torch.Generator().manual_seed(99)
    shapes = F.interpolate(torch.randn(K, 1, 4, 4, generator=g), size=(16, 16), mode="bicubic")
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(K, (n,), generator=g)
    x = shapes[y] + 3.0 * torch.randn(n, 1, 16, 16, generator=g)
    return [{"pixel_values": a, "labels": int(b)} for a, b in zip(x, y)]


class SkyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, K),
        )

    def forward(self, pixel_values, labels=None):
        logits = self.net(pixel_values)
        if labels is None:
            return {"logits": logits}
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}


class MixupTrainer(Trainer):
    def __init__(self, *args, mix_alpha=0.1, **kw):
        super().__init__(*args, **kw)
        self.mix = torch.distributions.Beta(mix_alpha, mix_alpha)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        if not model.training:
            out = model(**inputs)
            return (out["loss"], out) if return_outputs else out["loss"]
        x, y = inputs["pixel_values"], inputs["labels"]
        lam = self.mix.sample((len(x),))
        other = torch.randperm(len(x))
        w = lam.view(-1, 1, 1, 1)
        mixed = w * x + (1 - w) * x[other]
        out = model(pixel_values=mixed)
        logits = out["logits"]
        here = F.cross_entropy(logits, y, reduction="none")
        there = F.cross_entropy(logits, y[other], reduction="none")
        loss = (lam * here + (1 - lam) * there).mean()
        return (loss, out) if return_outputs else loss


def accuracy(p):
    return {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))}


args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=32,
    per_device_eval_batch_size=200,
    num_train_epochs=8,
    learning_rate=1e-3,
    lr_scheduler_type="cosine",
    warmup_ratio=0.05,
    logging_steps=50,
    eval_strategy="epoch",
    save_strategy="no",
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
)
trainer = MixupTrainer(model=SkyNet(), args=args, train_dataset=sky(2000, 1), eval_dataset=sky(600, 2),
                       compute_metrics=accuracy)
trainer.train()
print("final", trainer.evaluate()["eval_accuracy"])
