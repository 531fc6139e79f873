"""Rare alarms in sensor windows: own GRU in the Hugging Face Trainer, weighted BCE, PR-AUC as the judge."""
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed
from transformers.utils import ModelOutput

set_seed(19)


def windows(n, seed, rate):
    rng = np.random.default_rng(seed)
    t = np.arange(32)
    rows = []
    for _ in range(n):
        alarm = int(rng.random() < rate)
        sig = np.stack([np.sin(t / 4 + rng.uniform(0, 6)), np.cos(t / 7 + rng.uniform(0, 6))], 1)
        sig += rng.normal(0, 0.35, sig.shape)
        if alarm:
            at = rng.integers(4, 24)
            sig[at:at + 6, 0] += 1.6
            sig[at:at + 6, 1] -= 1.2
        rows.append({"window": sig.astype(np.float32), "alarm": alarm, "sensor_id": "s%d" % rng.integers(9)})
    return rows


def collate(rows):
    return {"window": torch.from_numpy(np.stack([r["window"] for r in rows])),
            "labels": torch.tensor([[float(r["alarm"])] for r in rows])}


class AlarmNet(nn.Module):
    def __init__(self, pos_weight, hidden=32):
        super().__init__()
        self.gru = nn.GRU(2, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)
        self.register_buffer("pos_weight", torch.tensor([pos_weight]))

    def forward(self, window, labels=None):
        states, _ = self.gru(window)
        logits = self.head(states.amax(dim=1))
        loss = None
        if labels is not None:
            loss = nn.functional.binary_cross_entropy_with_logits(
                logits, labels, pos_weight=self.pos_weight)
        return ModelOutput(loss=loss, logits=logits)


def compute_metrics(p):
    score, truth = p.predictions.ravel(), p.label_ids.ravel()
    return {"pr_auc": float(average_precision_score(truth, score)),
            "f1": float(f1_score(truth, score > 0)),
            "share": float(truth.mean())}


def main():
    train, test = windows(4000, 19, 0.05), windows(1500, 20, 0.05)
    positives = sum(r["alarm"] for r in train)
    net = AlarmNet(pos_weight=(len(train) - positives) / positives)
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=8,
        per_device_train_batch_size=64,
        per_device_eval_batch_size=500,
        learning_rate=8e-3,
        lr_scheduler_type="cosine",
        weight_decay=0.01,
        remove_unused_columns=False,
        logging_steps=63,
        eval_strategy="epoch",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = Trainer(model=net, args=args, train_dataset=train, eval_dataset=test,
                      data_collator=collate, compute_metrics=compute_metrics)
    trainer.train()
    out = trainer.evaluate()
    print("test loss %.4f pr-auc %.4f f1 %.4f alarm share %.4f" % (
        out["eval_loss"], out["eval_pr_auc"], out["eval_f1"], out["eval_share"]))


if __name__ == "__main__":
    main()
