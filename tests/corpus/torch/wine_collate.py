"""Wine cultivars with random features and a trained read-out, HF Trainer."""
import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_wine
from transformers import Trainer, TrainingArguments, set_seed

set_seed(4)


class RandomFeatureNet(nn.Module):
    def __init__(self, d, width=200, classes=3):
        super().__init__()
        self.random = nn.Linear(d, width)
        nn.init.normal_(self.random.weight, std=d ** -0.5)
        nn.init.uniform_(self.random.bias, 0, 2 * np.pi)
        for p in self.random.parameters():
            p.requires_grad_(False)
        self.readout = nn.Linear(width, classes)
        nn.init.zeros_(self.readout.weight)
        nn.init.zeros_(self.readout.bias)

    def forward(self, chem):
        return {"logits": self.readout(torch.cos(self.random(chem)))}


class WineTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        target = inputs.pop("labels")
        out = model(**inputs)
        loss = nn.functional.cross_entropy(out["logits"], target)
        return (loss, out) if return_outputs else loss


class Collate:
    def __init__(self, rows):
        table = np.array([r["chem"] for r in rows])
        self.low, self.high = np.quantile(table, [0.05, 0.95], axis=0)

    def __call__(self, rows):
        chem = np.array([r["chem"] for r in rows])
        scaled = 2 * (chem - self.low) / (self.high - self.low) - 1
        return {
            "chem": torch.tensor(np.clip(scaled, -2, 2), dtype=torch.float32),
            "labels": torch.tensor([r["cultivar"] for r in rows]),
        }


def metrics(p):
    pred = p.predictions.argmax(-1)
    recalls = [(pred[p.label_ids == c] == c).mean() for c in np.unique(p.label_ids)]
    return {"accuracy": float((pred == p.label_ids).mean()), "balanced": float(np.mean(recalls))}


def main():
    wine = load_wine()
    rows = [{"chem": x.tolist(), "cultivar": int(y)} for x, y in zip(wine.data, wine.target)]
    test_rows = rows[::4]
    train_rows = [r for i, r in enumerate(rows) if i % 4]
    args = TrainingArguments(
        output_dir="out",
        max_steps=120,
        per_device_train_batch_size=len(train_rows),
        per_device_eval_batch_size=64,
        learning_rate=0.05,
        lr_scheduler_type="constant",
        weight_decay=0.01,
        max_grad_norm=0.0,
        remove_unused_columns=False,
        label_names=["labels"],
        eval_strategy="steps",
        eval_steps=40,
        logging_steps=20,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = WineTrainer(
        model=RandomFeatureNet(13), args=args, train_dataset=train_rows, eval_dataset=test_rows,
        data_collator=Collate(train_rows), compute_metrics=metrics,
    )
    trainer.train()
    res = trainer.evaluate()
    share = np.bincount([r["cultivar"] for r in test_rows]).max() / len(test_rows)
    print(f"test loss {res['eval_loss']:.4f} accuracy {res['eval_accuracy']:.3f} "
          f"balanced {res['eval_balanced']:.3f} (majority {share:.3f})")


if __name__ == "__main__":
    main()
