"""Disease progression after one year, HF Trainer around a small MLP."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score, mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from transformers import Trainer, TrainingArguments, set_seed

set_seed(12)


class Patients(Dataset):
    def __init__(self, x, y):
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(y, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"features": self.x[i], "labels": self.y[i]}


class ProgressionNet(nn.Module):
    def __init__(self, d, hidden=32, drop=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d, hidden), nn.GELU(), nn.Dropout(drop), nn.Linear(hidden, 1),
        )

    def forward(self, features, labels=None):
        pred = self.net(features).squeeze(-1)
        if labels is None:
            return {"logits": pred}
        return {"loss": nn.functional.mse_loss(pred, labels), "logits": pred}


def prepare():
    x, y = load_diabetes(return_X_y=True)
    xtr, xte, ytr, yte = train_test_split(x, y, test_size=0.25, random_state=0)
    sx = StandardScaler().fit(xtr)
    sy = StandardScaler().fit(ytr[:, None])
    pack = lambda a, b: Patients(sx.transform(a), sy.transform(b[:, None])[:, 0])
    return pack(xtr, ytr), pack(xte, yte), sy


def make_metrics(sy):
    def metrics(p):
        pred = sy.inverse_transform(np.asarray(p.predictions).reshape(-1, 1))[:, 0]
        gold = sy.inverse_transform(np.asarray(p.label_ids).reshape(-1, 1))[:, 0]
        return {"r2": r2_score(gold, pred), "mae": mean_absolute_error(gold, pred)}
    return metrics


def main():
    train, test, sy = prepare()
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=25,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=4,
        learning_rate=5e-3,
        lr_scheduler_type="cosine",
        warmup_ratio=0.1,
        weight_decay=0.01,
        max_grad_norm=1.0,
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=25,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=ProgressionNet(train.x.shape[1]),
        args=args,
        train_dataset=train,
        eval_dataset=test,
        compute_metrics=make_metrics(sy),
    )
    trainer.train()
    res = trainer.evaluate()
    print(f"test loss {res['eval_loss']:.3f}  R2 {res['eval_r2']:.3f}  MAE {res['eval_mae']:.1f}")


if __name__ == "__main__":
    main()
