"""Tell machine states apart by their vibration (three axes, 60 samples)."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, set_seed

STATES = ["idle", "grinding", "drilling", "loose", "worn"]


def recordings(n, seed):
    g = np.random.default_rng(seed)
    t = np.arange(60) / 60
    out = []
    for _ in range(n):
        k = int(g.integers(len(STATES)))
        freq = 4 + 1.5 * k + g.normal(0, 0.25)
        amp = g.uniform(0.8, 1.2, 3)
        phase = g.uniform(0, 2 * np.pi, 3)
        x = amp * np.sin(2 * np.pi * freq * t[:, None] + phase) + g.normal(0, 0.7, (60, 3))
        out.append({"signal": torch.tensor(x, dtype=torch.float32), "labels": k})
    return out


class TremorNet(nn.Module):
    def __init__(self, hidden=48, dropout=0.5):
        super().__init__()
        self.dropout = dropout
        self.conv = nn.Conv1d(3, 32, 7, stride=2, padding=3)
        self.rnn = nn.GRU(32, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, len(STATES))

    def encode(self, signal):
        h = F.relu(self.conv(signal.transpose(1, 2))).transpose(1, 2)
        h = F.dropout(h, p=self.dropout)
        out, _ = self.rnn(h)
        return F.dropout(out.mean(1), p=self.dropout)

    def forward(self, signal, labels=None):
        logits = self.fc(self.encode(signal))
        if labels is None:
            return (logits,)
        return F.cross_entropy(logits, labels), logits


def compute_metrics(p):
    pred = p.predictions.argmax(-1)
    recall = [float((pred[p.label_ids == k] == k).mean()) for k in range(len(STATES))]
    return {"accuracy": float((pred == p.label_ids).mean()), "worst_recall": min(recall)}


if __name__ == "__main__":
    set_seed(8)
    args = TrainingArguments(
        output_dir="tremor_out",
        num_train_epochs=12,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        learning_rate=3e-3,
        max_grad_norm=1.0,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        logging_steps=30,
        report_to="none",
    )
    trainer = Trainer(model=TremorNet(), args=args, train_dataset=recordings(960, 0),
                      eval_dataset=recordings(300, 1), compute_metrics=compute_metrics,
                      callbacks=[EarlyStoppingCallback(early_stopping_patience=5)])
    trainer.train()
    print(trainer.evaluate())
