"""Rare machine alarms (about 5 % positive) from sensor readings, trained with a weighted loss."""
import os
os.environ["USE_TF"] = "0"
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed


class AlarmNet(nn.Module):
    def __init__(self, n_in=10):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, readings=None, labels=None):
        return {"logits": self.net(readings)}


class WeightedTrainer(Trainer):
    def __init__(self, *args, pos_weight=1.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([pos_weight]))

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(**inputs)
        loss = self.criterion(out["logits"], inputs["labels"].float().unsqueeze(1))
        return (loss, {"loss": loss, **out}) if return_outputs else loss


def machine(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10)).astype("float32")
    stress = x[:, 0] * x[:, 1] + 0.8 * x[:, 2] + 0.5 * np.abs(x[:, 3])
    y = (stress + 0.15 * rng.normal(size=n) > 2.5).astype("float32")
    return [{"readings": a, "labels": b} for a, b in zip(x, y)]


def compute_metrics(p):
    score, gold = p.predictions[:, 0], p.label_ids.astype(int)
    return {"ap": float(average_precision_score(gold, score)),
            "f1": float(f1_score(gold, score > 0.0)),
            "all_zero_accuracy": float((gold == 0).mean()),
            "accuracy": float(((score > 0.0) == gold).mean())}


def main():
    set_seed(0)
    train, test = machine(8000, 1), machine(1500, 2)
    rate = np.mean([r["labels"] for r in train])
    args = TrainingArguments(
        output_dir="out", num_train_epochs=5, per_device_train_batch_size=64,
        per_device_eval_batch_size=256, learning_rate=1e-2, lr_scheduler_type="cosine",
        save_strategy="no", logging_steps=125, report_to=[], disable_tqdm=True, label_names=["labels"],
    )
    trainer = WeightedTrainer(model=AlarmNet(), args=args, train_dataset=train, eval_dataset=test,
                              compute_metrics=compute_metrics, pos_weight=float((1 - rate) / rate))
    trainer.train()
    r = trainer.evaluate()
    print(f"positive rate {rate:.3f}  test loss {r['eval_loss']:.3f}")
    print(f"average precision {r['eval_ap']:.3f}  f1 {r['eval_f1']:.3f}  "
          f"accuracy {r['eval_accuracy']:.3f} (all zero {r['eval_all_zero_accuracy']:.3f})")


if __name__ == "__main__":
    main()
