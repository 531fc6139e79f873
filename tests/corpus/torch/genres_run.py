import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import average_precision_score, f1_score
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(13)
rng = np.random.default_rng(13)
GENRES, rate = ["drama", "comedy", "western", "noir", "musical"], np.array([0.5, 0.3, 0.08, 0.07, 0.06])
V, L = 105, 20  # 0 bos, 1 pad, 2 eos, 3-4 unused, 5-54 plain words, 55-104 ten typical words per genre


def film():
    y = rng.random(5) < rate
    ids = list(rng.integers(5, 55, rng.integers(4, 9)))
    for g in np.flatnonzero(y):
        ids += list(55 + 10 * g + rng.integers(0, 10, 3))
    if rng.random() < 0.2:  # a word of some other genre slips in
        ids.append(int(rng.integers(55, 105)))
    rng.shuffle(ids)
    ids = [0] + [int(i) for i in ids][:L - 2] + [2]
    mask = [1] * len(ids) + [0] * (L - len(ids))
    return {"input_ids": ids + [1] * (L - len(ids)), "attention_mask": mask, "labels": y.astype("float32").tolist()}


films = Dataset.from_list([film() for _ in range(2500)])
train, test = films.select(range(2000)), films.select(range(2000, 2500))
seen = np.array(train["labels"])
pos_weight = torch.tensor((1 - seen.mean(0)) / seen.mean(0), dtype=torch.float32).clamp(max=8.0)
print("share of each genre:", seen.mean(0).round(3), "weights:", pos_weight.numpy().round(1))


class GenreNet(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.words = nn.Embedding(V, dim, padding_idx=1)
        self.net = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(dim, 5))

    def forward(self, input_ids, attention_mask, labels=None):
        m = attention_mask.unsqueeze(-1).float()
        return {"logits": self.net((self.words(input_ids) * m).sum(1) / m.sum(1))}


class GenreTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        per_label = nn.functional.binary_cross_entropy_with_logits(out["logits"], labels, pos_weight=pos_weight, reduction="none")
        loss = per_label.sum(dim=1).mean()
        return (loss, {"logits": out["logits"]}) if return_outputs else loss


def compute_metrics(p):
    # a logit above 0 is a probability above one half
    pred = (p.predictions > 0).astype(int)
    return {"f1_macro": f1_score(p.label_ids, pred, average="macro"),
            "map": average_precision_score(p.label_ids, p.predictions, average="macro"),
            **{g: f1_score(p.label_ids[:, i], pred[:, i]) for i, g in enumerate(GENRES)}}


args = TrainingArguments("out_genres", num_train_epochs=10, per_device_train_batch_size=16, gradient_accumulation_steps=2,
                         learning_rate=3e-3, bf16=True, warmup_ratio=0.1, eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
                         label_names=["labels"], report_to="none", use_cpu=True, disable_tqdm=True)
trainer = GenreTrainer(model=GenreNet(), args=args, train_dataset=train, eval_dataset=test, compute_metrics=compute_metrics)
trainer.train()
print({k: round(v, 3) for k, v in trainer.evaluate().items()})
