import numpy as np
import torch
from torch import nn
from sklearn.metrics import mean_absolute_error, r2_score
from transformers import EarlyStoppingCallback, Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(4)
gen = np.random.default_rng(4)


def discharge_curves(n, points=64):
    health = gen.uniform(0.0, 1.0, n)
    t = np.linspace(0, 1, points)
    knee = 0.55 + 0.4 * health[:, None] + gen.normal(0, 0.03, (n, 1))
    slope = 0.5 - 0.25 * health[:, None] + gen.normal(0, 0.03, (n, 1))
    volts = 4.1 - slope * t - 1.2 / (1 + np.exp(-(t - knee) * 25))
    volts += gen.normal(0, 0.03, volts.shape)
    cycles = 6.0 * health + gen.normal(0, 0.15, n) - 3.0
    curves = (volts - 3.7) / 0.4
    return [{"curve": c.astype("float32"), "labels": np.float32(y)} for c, y in zip(curves, cycles)]


class CurveRegressor(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, width, 7, stride=2, padding=3), nn.GELU(),
            nn.Conv1d(width, width, 5, stride=2, padding=2), nn.GELU(),
            nn.Flatten())
        self.head = nn.Sequential(nn.Linear(width * 16, 32), nn.GELU(), nn.Linear(32, 1))

    def forward(self, curve):
        return self.head(self.encoder(curve.unsqueeze(1)))


class RobustTrainer(Trainer):
    delta = 1.0

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        target = inputs["labels"]
        pred = model(inputs["curve"]).squeeze(-1)
        err = (pred - target).abs()
        quad = torch.clamp(err, max=self.delta)
        loss = (0.5 * quad ** 2 + self.delta * (err - quad)).mean()
        return (loss, {"loss": loss, "logits": pred}) if return_outputs else loss


class PrintEval(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"epoch {state.epoch:4.1f}  eval loss {metrics['eval_loss']:.4f}  mae {metrics['eval_mae']:.3f}")


def collate(rows):
    return {"curve": torch.tensor(np.stack([r["curve"] for r in rows])),
            "labels": torch.tensor([r["labels"] for r in rows])}


def metrics(p):
    guess = np.ravel(p.predictions)
    return {"mae": mean_absolute_error(p.label_ids, guess), "r2": r2_score(p.label_ids, guess)}


args = TrainingArguments(
    output_dir="out/battery", num_train_epochs=12, per_device_train_batch_size=32,
    per_device_eval_batch_size=64, learning_rate=2e-3, lr_scheduler_type="cosine", warmup_ratio=0.05,
    eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
    metric_for_best_model="eval_loss", greater_is_better=False, logging_strategy="no",
    remove_unused_columns=False, label_names=["labels"], report_to="none", use_cpu=True, disable_tqdm=True)
trainer = RobustTrainer(model=CurveRegressor(), args=args, train_dataset=discharge_curves(1200),
                        eval_dataset=discharge_curves(320), data_collator=collate, compute_metrics=metrics,
                        callbacks=[PrintEval(), EarlyStoppingCallback(early_stopping_patience=6)])
trainer.train()
final = trainer.evaluate(discharge_curves(400))
print(f"test mae {final['eval_mae']:.3f}  r2 {final['eval_r2']:.3f}")
