import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(17)
FEATURES = ["vibration", "flow", "pressure", "heat", "hours", "current", "noise", "ph"]


class PumpDays(Dataset):
    """One row per pump and day; label 1 where the pump failed within the week."""

    def __init__(self, n, seed):
        r = np.random.default_rng(seed)
        x = r.normal(size=(n, len(FEATURES)))
        y = (r.random(n) < 0.03).astype(int)
        x[y == 1, 0] += 1.1
        x[y == 1, 3] += 1.0
        x[y == 1, 1] -= 0.8
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}


class PumpNet(nn.Module):
    def __init__(self, n_in, class_weight=None):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
        self.loss_fn = nn.CrossEntropyLoss(weight=class_weight)

    def forward(self, x, labels=None):
        logits = self.net(x)
        out = {"logits": logits}
        if labels is not None:
            out = {"loss": self.loss_fn(logits, labels), "logits": logits}
        return out


def compute_metrics(p):
    pred, y = p.predictions.argmax(-1), p.label_ids
    rec1 = float((pred[y == 1] == 1).mean())
    rec0 = float((pred[y == 0] == 0).mean())
    return {
        "accuracy": float((pred == y).mean()),
        "found_failures": rec1,
        "balanced_accuracy": (rec0 + rec1) / 2,
        "alarms": int((pred == 1).sum()),
    }


def main():
    train, test = PumpDays(12000, 0), PumpDays(3000, 1)
    counts = torch.bincount(train.y, minlength=2).float()
    print("days per label", counts.tolist())
    model = PumpNet(len(FEATURES), class_weight=counts.sum() / (2 * counts))
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=4,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=500,
        learning_rate=1e-3,
        weight_decay=0.01,
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=200,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                      compute_metrics=compute_metrics)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
