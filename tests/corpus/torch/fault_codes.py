import tempfile

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score
from transformers import Trainer, TrainingArguments, set_seed

set_seed(21)
rng = np.random.default_rng(21)
CODES = 12
mix = rng.normal(0, 1, (20, CODES))


def turbines(n):
    x = rng.normal(0, 1, (n, 20))
    score = x @ mix / np.sqrt(20) + 0.25 * rng.normal(0, 1, (n, CODES))
    y = (score > 1.7).astype(np.float32)
    order = np.argsort(y.sum(1), kind="stable")
    return [{"turbine": f"T{i:05d}", "sensors": x[i].tolist(), "codes": y[i].tolist()} for i in order]


train_rows, eval_rows = turbines(4000), turbines(1500)
prior = np.mean([r["codes"] for r in train_rows], axis=0)


def collate(rows):
    return {
        "x": torch.tensor([r["sensors"] for r in rows], dtype=torch.float32),
        "y": torch.tensor([r["codes"] for r in rows], dtype=torch.float32),
    }


class CodeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, CODES)
        with torch.no_grad():
            self.head.weight.zero_()
            self.head.bias.copy_(torch.from_numpy(np.log(prior / (1 - prior))))

    def forward(self, x):
        return self.head(self.trunk(x))


class CodeTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        logits = model(inputs["x"])
        loss = nn.functional.binary_cross_entropy_with_logits(logits, inputs["y"])
        return (loss, {"logits": logits}) if return_outputs else loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad():
            loss, out = self.compute_loss(model, inputs, return_outputs=True)
        return loss.detach(), torch.sigmoid(out["logits"]), inputs["y"]


def compute_metrics(p):
    return {
        "mean_ap": average_precision_score(p.label_ids, p.predictions, average="macro"),
        "chance_ap": float(p.label_ids.mean()),
        "all_codes_right": float(((p.predictions > 0.5) == (p.label_ids > 0.5)).all(1).mean()),
        "no_code_at_all": float((p.label_ids.sum(1) == 0).mean()),
    }


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=8,
    per_device_train_batch_size=32,
    gradient_accumulation_steps=2,
    per_device_eval_batch_size=500,
    learning_rate=4e-3,
    lr_scheduler_type="constant_with_warmup",
    warmup_steps=40,
    remove_unused_columns=False,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=50,
    report_to="none",
    disable_tqdm=True,
)
trainer = CodeTrainer(model=CodeNet(), args=args, train_dataset=train_rows, eval_dataset=eval_rows,
                      data_collator=collate, compute_metrics=compute_metrics)
before = trainer.evaluate()
trainer.train()
after = trainer.evaluate()
for key in ("eval_loss", "eval_mean_ap", "eval_all_codes_right", "eval_no_code_at_all", "eval_chance_ap"):
    print(f"{key:22s} before {before[key]:.4f} after {after[key]:.4f}")
