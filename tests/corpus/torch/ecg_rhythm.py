import numpy as np
import torch
from torch import nn
from torch.optim import AdamW
from transformers import Trainer, TrainingArguments, get_linear_schedule_with_warmup, set_seed

SEED = 31
set_seed(SEED)
g = np.random.default_rng(SEED)
CLASSES = ["sinus", "brady", "tachy", "irregular"]


def trace(kind, length=120):
    gap = [20, 32, 12, 20][kind]
    x = g.normal(0, 0.15, length)
    pos = int(g.integers(0, gap))
    while pos < length - 2:
        x[pos:pos + 3] += [0.8, 2.0, -0.7]
        pos += gap + (int(g.integers(-11, 12)) if kind == 3 else int(g.integers(-1, 2)))
    return x.astype("float32")


def make(n):
    kinds = g.integers(0, 4, n)
    return [{"signal": torch.from_numpy(trace(k)), "labels": torch.tensor(int(k))} for k in kinds]


train_rows, val_rows = make(800), make(200)


class RhythmNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 24, 7, stride=2, padding=3), nn.BatchNorm1d(24), nn.ReLU(),
                                  nn.Conv1d(24, 48, 15, padding=7), nn.BatchNorm1d(48), nn.ReLU(),
                                  nn.AdaptiveMaxPool1d(4), nn.Flatten(), nn.Dropout(0.1))
        self.out = nn.Linear(48 * 4, len(CLASSES))

    def forward(self, signal, labels=None):
        logits = self.out(self.conv(signal.unsqueeze(1)))
        if labels is None:
            return {"logits": logits}
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def build_model():
    return RhythmNet()


args = TrainingArguments("ecg", num_train_epochs=8, per_device_train_batch_size=32, eval_strategy="epoch",
                         logging_strategy="epoch", save_strategy="no", report_to="none", seed=SEED)
steps = len(train_rows) // 32 * 8
model = build_model()
optimizer = AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=steps // 10, num_training_steps=steps)

trainer = Trainer(
    model=build_model(),
    args=args,
    train_dataset=train_rows,
    eval_dataset=val_rows,
    optimizers=(optimizer, scheduler),
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
)
trainer.train()
print(trainer.evaluate())
