import numpy as np
import torch
import torch.nn as nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(17)
rng = np.random.default_rng(17)
N = 1600
features = rng.normal(size=(N, 8)).astype(np.float32)
segment = np.digitize(features[:, 0] + features[:, 1] * features[:, 2] + 0.2 * rng.normal(size=N), [-0.6, 0.6])
markup = 1800 * features[:, 3] - 1200 * features[:, 4] + 600 * rng.normal(size=N)


class CarDataset(torch.utils.data.Dataset):
    def __init__(self, lo, hi):
        self.x = torch.tensor(features[lo:hi])
        self.segment = torch.tensor(segment[lo:hi])
        self.markup = torch.tensor(markup[lo:hi], dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "segment": self.segment[i], "markup": self.markup[i]}


class CarModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.segment_head = nn.Linear(64, 3)
        self.markup_head = nn.Linear(64, 1)

    def forward(self, x, segment=None, markup=None):
        h = self.body(x)
        seg_logits = self.segment_head(h)
        markup_pred = self.markup_head(h).squeeze(-1)
        seg_loss = nn.functional.cross_entropy(seg_logits, segment)
        markup_loss = nn.functional.mse_loss(markup_pred, markup)
        loss = seg_loss + markup_loss
        return {"loss": loss, "seg_logits": seg_logits, "markup_pred": markup_pred}


def compute_metrics(p):
    seg_logits, markup_pred = p.predictions
    seg_true, markup_true = p.label_ids
    return {"segment_accuracy": float((seg_logits.argmax(-1) == seg_true).mean()),
            "markup_corr": float(np.corrcoef(markup_pred, markup_true)[0, 1])}


args = TrainingArguments(output_dir="cars", num_train_epochs=12, per_device_train_batch_size=32, learning_rate=3e-3,
                         label_names=["segment", "markup"], logging_steps=100, save_strategy="no", report_to="none",
                         use_cpu=True)
trainer = Trainer(model=CarModel(), args=args, train_dataset=CarDataset(0, 1300), eval_dataset=CarDataset(1300, N),
                  compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
