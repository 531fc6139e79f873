import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(14)
STAGES = ["wake", "light", "deep", "rem"]
TRANSITIONS = np.array([[.85, .15, 0, 0], [.06, .74, .12, .08], [0, .15, .85, 0], [.08, .12, 0, .80]])
CENTRES = np.array([[2.0, .2, .3, 1.4], [1.0, 1.1, .8, .4], [.3, 2.0, .4, .2], [1.5, .3, .9, .5]])


def record_night(rng):
    n = int(rng.integers(20, 60))
    stages = [int(rng.integers(4))]
    for _ in range(n - 1):
        stages.append(int(rng.choice(4, p=TRANSITIONS[stages[-1]])))
    stages = np.array(stages)
    bands = CENTRES[stages] + rng.normal(0, 0.55, (n, 4))
    scored = rng.random(n) < 0.9
    return bands.astype(np.float32), np.where(scored, stages, -100)


class Nights(Dataset):
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.items = [record_night(rng) for _ in range(count)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return {"bands": self.items[i][0], "labels": self.items[i][1]}


def collate(rows):
    width = 60
    bands = torch.zeros(len(rows), width, 4)
    labels = torch.full((len(rows), width), -100)
    for i, row in enumerate(rows):
        bands[i, :len(row["bands"])] = torch.from_numpy(row["bands"])
        labels[i, :len(row["labels"])] = torch.from_numpy(row["labels"])
    return {"bands": bands, "labels": labels}


class StageTagger(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(4, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Sequential(nn.Linear(2 * hidden, 64), nn.ReLU(), nn.Linear(64, len(STAGES)))

    def forward(self, bands, labels=None):
        return {"logits": self.head(self.gru(bands)[0])}


def stage_loss(outputs, labels, num_items_in_batch=None):
    logits = outputs["logits"].view(-1, len(STAGES))
    return F.cross_entropy(logits, labels.view(-1), ignore_index=-100)


def compute_metrics(p):
    keep = p.label_ids != -100
    pred = p.predictions.argmax(-1)
    return {"accuracy": float((pred == p.label_ids)[keep].mean()),
            "majority": float(np.bincount(p.label_ids[keep]).max() / keep.sum())}


class ShowLosses(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        print(state.global_step, {k: round(v, 4) for k, v in logs.items() if k in
                                  ("loss", "grad_norm", "learning_rate", "eval_loss", "eval_accuracy")})


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    per_device_train_batch_size=8,
    gradient_accumulation_steps=8,
    per_device_eval_batch_size=50,
    num_train_epochs=7,
    learning_rate=0.4,
    optim="sgd",
    max_grad_norm=0.0,
    lr_scheduler_type="cosine",
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=10,
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(model=StageTagger(), args=args, train_dataset=Nights(640, 1), eval_dataset=Nights(150, 2),
                  data_collator=collate, compute_loss_func=stage_loss, compute_metrics=compute_metrics,
                  callbacks=[ShowLosses()])
trainer.train()
final = trainer.evaluate()
print("eval loss %.4f accuracy %.4f majority class %.4f"
      % (final["eval_loss"], final["eval_accuracy"], final["eval_majority"]))
