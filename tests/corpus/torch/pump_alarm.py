import tempfile

import numpy as np
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed


class PumpRecords(Dataset):
    def __init__(self, n, seed, rate=0.04, length=60):
        rng = np.random.default_rng(seed)
        t = np.arange(length)
        self.alarm = (rng.random(n) < rate).astype(np.float32)
        vibration = np.sin(2 * np.pi * t / 12 + rng.uniform(0, 6.28, (n, 1))) + 0.4 * rng.standard_normal((n, length))
        heat = np.cumsum(0.1 * rng.standard_normal((n, length)), axis=1)
        for i in np.flatnonzero(self.alarm):
            start = rng.integers(20, 45)
            vibration[i, start:] += rng.uniform(0.6, 1.4) * np.sin(2 * np.pi * t[start:] / 3)
            heat[i, start:] += 0.03 * (t[start:] - start)
        self.signal = np.stack([vibration, heat], axis=1).astype(np.float32)

    def __len__(self):
        return len(self.alarm)

    def __getitem__(self, i):
        return {"signal": self.signal[i], "alarm": self.alarm[i]}


def stack_records(records):
    return {"signal": torch.from_numpy(np.stack([r["signal"] for r in records])),
            "alarm": torch.tensor([r["alarm"] for r in records])}


class AlarmNet(nn.Module):
    def __init__(self, pos_weight):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(2, 32, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 32, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten())
        self.score = nn.Linear(32, 1)
        self.register_buffer("pos_weight", torch.tensor(float(pos_weight)))

    def forward(self, signal, alarm=None):
        score = self.score(self.features(signal)).squeeze(-1)
        if alarm is None:
            return {"score": score}
        loss = nn.functional.binary_cross_entropy_with_logits(score, alarm, pos_weight=self.pos_weight)
        return {"loss": loss, "score": score}


def ranking_metrics(p):
    return {"ap": average_precision_score(p.label_ids, p.predictions),
            "auc": roc_auc_score(p.label_ids, p.predictions)}


def main():
    set_seed(9)
    train, valid = PumpRecords(4000, seed=1), PumpRecords(1500, seed=2)
    ratio = (1 - train.alarm.mean()) / train.alarm.mean()
    model = AlarmNet(pos_weight=ratio)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            output_dir=folder, num_train_epochs=10, learning_rate=4e-3, per_device_train_batch_size=64,
            per_device_eval_batch_size=250, remove_unused_columns=False, label_names=["alarm"],
            eval_strategy="epoch", save_strategy="no", logging_strategy="epoch", max_grad_norm=0.0,
            report_to="none", disable_tqdm=True)
        trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                          data_collator=stack_records, compute_metrics=ranking_metrics)
        trainer.train()
        r = trainer.evaluate()
    print(f"alarm share {valid.alarm.mean():.3f}  average precision {r['eval_ap']:.3f}  auc {r['eval_auc']:.3f}")


if __name__ == "__main__":
    main()
