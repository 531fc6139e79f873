# Average mood of a patient's diary from coded entries of very different length.
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(11)
N_CODES, MAX_LEN = 120, 100
rng = np.random.default_rng(11)
valence = rng.normal(size=N_CODES + 1)
valence[0] = 0.0


def draw_diary():
    tilt = rng.normal(0, 0.8)
    n = int(np.clip(rng.lognormal(2.7, 0.9), 3, MAX_LEN))
    p = np.exp(tilt * valence[1:])
    codes = rng.choice(np.arange(1, N_CODES + 1), size=n, p=p / p.sum())
    return codes, valence[codes].mean()


class Diaries(Dataset):
    def __init__(self, n):
        self.rows = [draw_diary() for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        codes, mood = self.rows[i]
        ids = torch.zeros(MAX_LEN, dtype=torch.long)
        ids[: len(codes)] = torch.from_numpy(codes)
        return {
            "input_ids": ids,
            "attention_mask": (ids > 0).long(),
            "labels": torch.tensor(mood, dtype=torch.float32),
        }


class DiaryModel(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.embed = nn.Embedding(N_CODES + 1, dim, padding_idx=0)
        self.step = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.out = nn.Linear(dim, 1)

    def forward(self, input_ids, attention_mask, labels=None):
        mask = attention_mask.unsqueeze(-1).float()
        h = self.step(self.embed(input_ids)) * mask
        pooled = h.mean(dim=1)
        pred = self.out(pooled).squeeze(-1)
        loss = None if labels is None else nn.functional.mse_loss(pred, labels)
        return {"loss": loss, "logits": pred}


def metrics(p):
    resid = p.predictions - p.label_ids
    return {"r2": float(1 - (resid ** 2).mean() / p.label_ids.var()), "mae": float(np.abs(resid).mean())}


train_set, test_set = Diaries(6000), Diaries(1000)
targs = TrainingArguments(
    output_dir="out",
    num_train_epochs=10,
    per_device_train_batch_size=64,
    per_device_eval_batch_size=250,
    learning_rate=2e-3,
    lr_scheduler_type="cosine",
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=94,
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
)
trainer = Trainer(DiaryModel(), targs, train_dataset=train_set, eval_dataset=test_set, compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
