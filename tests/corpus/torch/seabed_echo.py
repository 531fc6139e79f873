import copy
import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(37)
rng = np.random.default_rng(37)


def ping(kind):
    t = np.arange(64)
    if kind == 0:
        e = np.exp(-((t - 30) / 3.0) ** 2) * 2
    elif kind == 1:
        e = np.exp(-np.clip(t - 24, 0, None) / 10.0) * (t >= 24) * 1.6
    else:
        e = np.exp(-((t - 20) / 4.0) ** 2) * 1.2 + np.exp(-((t - 44) / 4.0) ** 2) * 1.2
    return np.roll(e, rng.integers(-8, 9)) + rng.normal(0, 0.25, 64)


def rows(n):
    kinds = rng.integers(0, 3, n)
    return [{"echo": torch.tensor(ping(k), dtype=torch.float32), "labels": int(k)} for k in kinds]


class EchoNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, 16, 5, padding=2, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(16, 32, 5, padding=2, bias=False), nn.BatchNorm1d(32), nn.ReLU(), nn.AdaptiveAvgPool1d(8),
            nn.Flatten())
        self.head = nn.Linear(256, 3)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

    def forward(self, echo, labels=None):
        logits = self.head(self.body(echo[:, None]))
        return {"loss": self.criterion(logits, labels), "logits": logits}


class EMACallback(TrainerCallback):
    def __init__(self, model, decay=0.95):
        self.shadow, self.decay = copy.deepcopy(model).eval().requires_grad_(False), decay

    def on_step_end(self, args, state, control, model=None, **kwargs):
        with torch.no_grad():
            for s, p in zip(self.shadow.state_dict().values(), model.state_dict().values()):
                if s.dtype.is_floating_point:
                    s.mul_(self.decay).add_(p, alpha=1 - self.decay)
                else:
                    s.copy_(p)


train_rows, test_rows = rows(900), rows(240)
model = EchoNet()
ema = EMACallback(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9, nesterov=True, weight_decay=5e-4)
args = TrainingArguments("echo", num_train_epochs=8, per_device_train_batch_size=64, eval_strategy="epoch",
                         logging_strategy="epoch", save_strategy="no", report_to="none", seed=37)
total = 8 * (len(train_rows) // 64 + 1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, total_steps=total + 1)
trainer = Trainer(model, args, train_dataset=train_rows, eval_dataset=test_rows, callbacks=[ema],
                  optimizers=(optimizer, scheduler),
                  compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
trainer.train()
print("model", trainer.evaluate()["eval_accuracy"])

x = torch.stack([r["echo"] for r in test_rows])
y = torch.tensor([r["labels"] for r in test_rows])
with torch.no_grad():
    pred = ema.shadow(x, y)["logits"].argmax(-1)
print("ema", (pred == y).float().mean().item())
