"""Daily bread sales from weather and calendar features."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(31)


def load_days(n, rng):
    weekday = rng.integers(0, 7, n)
    temp = rng.normal(12, 7, n)
    rain = (rng.random(n) < 0.3).astype(float)
    holiday = (rng.random(n) < 0.08).astype(float)
    price = rng.uniform(2.5, 4.5, n)
    loaves = (180 + 60 * (weekday >= 5) - 2.0 * (temp - 12) - 25 * rain + 90 * holiday - 30 * (price - 3.5)
              + rng.normal(0, 8, n))
    x = np.column_stack([np.eye(7)[weekday], (temp - 12) / 7, rain, holiday, price - 3.5])
    return x.astype(np.float32), loaves.astype(np.float32)


class SalesNet(nn.Module):
    def __init__(self, n_features, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_features, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.out = nn.Linear(width, 1)

    def forward(self, features, labels=None):
        return {"prediction": self.out(self.body(features))}


class SalesTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(features=inputs["features"])
        loss = nn.functional.mse_loss(outputs["prediction"], inputs["labels"])
        return (loss, outputs) if return_outputs else loss


def collate(rows):
    return {"features": torch.stack([r[0] for r in rows]), "labels": torch.stack([r[1] for r in rows])}


rng = np.random.default_rng(31)
x_train, y_train = load_days(1500, rng)
x_test, y_test = load_days(300, rng)
mean, std = y_train.mean(), y_train.std()
train_set = TensorDataset(torch.tensor(x_train), torch.tensor((y_train - mean) / std))
test_set = TensorDataset(torch.tensor(x_test), torch.tensor((y_test - mean) / std))

args = TrainingArguments(output_dir="bakery_out", per_device_train_batch_size=64, per_device_eval_batch_size=64,
                         num_train_epochs=20, learning_rate=3e-3, logging_steps=60, save_strategy="no",
                         remove_unused_columns=False, report_to="none")
trainer = SalesTrainer(model=SalesNet(x_train.shape[1]), args=args, train_dataset=train_set, eval_dataset=test_set,
                       data_collator=collate)
trainer.train()

predicted = trainer.predict(test_set).predictions.reshape(-1) * std + mean
mae = np.abs(predicted - y_test).mean()
r2 = 1 - ((predicted - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()
print(f"MAE {mae:.1f} loaves, R2 {r2:.3f}")
