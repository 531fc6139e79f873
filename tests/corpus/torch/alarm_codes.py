from dataclasses import dataclass
import numpy as np
import torch
from torch import nn
from sklearn.metrics import f1_score, hamming_loss
from sklearn.preprocessing import StandardScaler
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, set_seed
from transformers.utils import ModelOutput

N_SENSORS, N_CODES = 20, 8


@dataclass
class AlarmOutput(ModelOutput):
    loss: torch.Tensor = None
    logits: torch.Tensor = None


class AlarmNet(nn.Module):
    def __init__(self, n_in, n_out, width=96, p=0.1):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(n_in, width), nn.LayerNorm(width), nn.GELU(), nn.Dropout(p),
            nn.Linear(width, width), nn.GELU())
        self.out = nn.Linear(width, n_out)
        self.criterion = nn.BCEWithLogitsLoss()

    def forward(self, features, labels=None):
        scores = torch.sigmoid(self.out(self.trunk(features)))
        loss = self.criterion(scores, labels) if labels is not None else None
        return AlarmOutput(loss=loss, logits=scores)


class SensorRows(torch.utils.data.Dataset):
    def __init__(self, x, y):
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(y, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"features": self.x[i], "labels": self.y[i]}


def plant_data(n, rng):
    x = rng.normal(size=(n, N_SENSORS)) * rng.uniform(1, 30, N_SENSORS)
    z = (x - x.mean(0)) / x.std(0)
    w = rng.normal(size=(N_SENSORS, N_CODES)) / np.sqrt(N_SENSORS)
    drive = z @ w + 0.6 * z[:, :N_CODES] * z[:, N_CODES:2 * N_CODES] + 0.15 * rng.normal(size=(n, N_CODES))
    return x, (drive > np.quantile(drive, 0.75, axis=0)).astype(int)


def compute_metrics(pred):
    probs = 1 / (1 + np.exp(-pred.predictions))
    guess = (probs > 0.5).astype(int)
    truth = pred.label_ids.astype(int)
    return {"f1_micro": f1_score(truth, guess, average="micro"),
            "f1_macro": f1_score(truth, guess, average="macro", zero_division=0),
            "hamming": hamming_loss(truth, guess)}


def main():
    set_seed(4)
    rng = np.random.default_rng(4)
    x, y = plant_data(4000, rng)
    scaler = StandardScaler().fit(x[:3200])
    train = SensorRows(scaler.transform(x[:3200]), y[:3200])
    valid = SensorRows(scaler.transform(x[3200:]), y[3200:])
    args = TrainingArguments(
        "out", num_train_epochs=15, per_device_train_batch_size=64, per_device_eval_batch_size=256,
        learning_rate=2e-3, eval_strategy="epoch", save_strategy="epoch", save_total_limit=1,
        load_best_model_at_end=True, metric_for_best_model="eval_loss", greater_is_better=False,
        logging_strategy="epoch", report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=AlarmNet(N_SENSORS, N_CODES), args=args, train_dataset=train, eval_dataset=valid,
                      compute_metrics=compute_metrics, callbacks=[EarlyStoppingCallback(3)])
    trainer.train()
    final = trainer.evaluate()
    for key in ("eval_loss", "eval_f1_micro", "eval_f1_macro", "eval_hamming"):
        print(f"{key}: {final[key]:.4f}")


if __name__ == "__main__":
    main()
