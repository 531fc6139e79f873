"""Sharpness-aware minimisation inside the Trainer, on small images of knots (ConvNext from a config)."""
import numpy as np
import torch
from datasets import Dataset
from transformers import ConvNextConfig, ConvNextForImageClassification, Trainer, TrainingArguments, set_seed

SEED = 19
set_seed(SEED)
rng = np.random.default_rng(SEED)
SIZE = 24
KNOTS = ["loop", "cross", "coil", "bar", "corner"]


def knot(kind):
    img = np.zeros((SIZE, SIZE), dtype=np.float32)
    cy, cx = rng.integers(8, SIZE - 8, size=2)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    dy, dx = yy - cy, xx - cx
    r = np.hypot(dy, dx)
    if kind == 0:
        img[(r > 3.5) & (r < 5.5)] = 1
    elif kind == 1:
        img[((abs(dy - dx) < 2) | (abs(dy + dx) < 2)) & (r < 7)] = 1
    elif kind == 2:
        img[(np.sin(r * 1.6 + np.arctan2(dy, dx)) > 0.2) & (r < 7)] = 1
    elif kind == 3:
        img[(abs(dy) < 2) & (abs(dx) < 7)] = 1
    else:
        img[((abs(dy) < 1.5) & (dx >= 0) & (dx < 7)) | ((abs(dx) < 1.5) & (dy >= 0) & (dy < 7))] = 1
    return img * rng.uniform(0.7, 1.3) + rng.normal(0, 0.25, size=img.shape)


def split(n):
    y = rng.integers(0, len(KNOTS), size=n)
    x = np.stack([knot(k) for k in y]).astype(np.float32)[:, None]
    return Dataset.from_dict({"pixel_values": x.tolist(), "labels": y.tolist()}).with_format("torch")


class SAMTrainer(Trainer):
    """Two backward passes for each step: climb to w + e(w), take the gradient there, step from w."""

    def __init__(self, *args, rho=0.05, **kwargs):
        super().__init__(*args, **kwargs)
        self.rho = rho

    @torch.no_grad()
    def climb(self, params):
        norm = torch.stack([p.grad.norm() for p in params]).norm()
        moves = []
        for p in params:
            e = p.grad * (self.rho / (norm + 1e-12))
            p.add_(e)
            moves.append(e)
        return moves

    @torch.no_grad()
    def descend(self, params, moves):
        for p, e in zip(params, moves):
            p.sub_(e)

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        loss = self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
        self.accelerator.backward(loss)
        params = [p for p in model.parameters() if p.grad is not None]
        moves = self.climb(params)
        model.zero_grad()
        self.accelerator.backward(self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch))
        self.descend(params, moves)
        return loss.detach()


def metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def main():
    train, test = split(800), split(250)
    model = ConvNextForImageClassification(ConvNextConfig(
        num_channels=1, patch_size=2, num_stages=2, hidden_sizes=[32, 64], depths=[1, 2], image_size=SIZE,
        layer_scale_init_value=1.0, initializer_range=0.1, num_labels=len(KNOTS)))
    args = TrainingArguments(output_dir="out", num_train_epochs=8, per_device_train_batch_size=25,
                             per_device_eval_batch_size=125, learning_rate=3e-3, lr_scheduler_type="cosine",
                             warmup_ratio=0.1, logging_steps=32, eval_strategy="epoch", save_strategy="no",
                             report_to="none", disable_tqdm=True, seed=SEED)
    trainer = SAMTrainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=metrics, rho=0.05)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
