import numpy as np
import torch
from torch import nn
from sklearn.metrics import average_precision_score, precision_recall_fscore_support
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from transformers import Trainer, TrainingArguments, set_seed

set_seed(17)
rng = np.random.default_rng(17)


def transactions(n):
    fraud = (rng.random(n) < 0.03).astype(int)
    x = rng.normal(size=(n, 16))
    x[:, 0] = np.exp(3 + x[:, 0])
    x[fraud == 1, 1:5] += 1.6
    x[fraud == 1, 5] *= 3
    x[fraud == 1, 0] *= 2.5
    x[:, 0] = np.log1p(x[:, 0])
    return x, fraud


class FraudNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x, labels=None):
        return {"logits": self.layers(x)}


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weights=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs["logits"], labels, weight=self.class_weights)
        return (loss, outputs) if return_outputs else loss


class Rows(torch.utils.data.Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}


def metrics(p):
    score = p.predictions[:, 1] - p.predictions[:, 0]
    prec, rec, f1, _ = precision_recall_fscore_support(p.label_ids, score > 0, average="binary", zero_division=0)
    return {"accuracy": float(((score > 0) == p.label_ids).mean()), "precision": prec, "recall": rec, "f1": f1,
            "ap": average_precision_score(p.label_ids, score)}


X, y = transactions(12000)
Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
scaler = StandardScaler().fit(Xtr)
counts = np.bincount(ytr)
weights = torch.tensor(len(ytr) / (2 * counts), dtype=torch.float32)
print("class counts", counts, "weights", weights.tolist())

trainer = WeightedTrainer(
    model=FraudNet(X.shape[1]),
    args=TrainingArguments("out", num_train_epochs=5, per_device_train_batch_size=128,
                           per_device_eval_batch_size=512, learning_rate=2e-3, eval_strategy="epoch",
                           save_strategy="no", logging_strategy="epoch", report_to=[], use_cpu=True,
                           disable_tqdm=True, label_names=["labels"]),
    train_dataset=Rows(scaler.transform(Xtr), ytr), eval_dataset=Rows(scaler.transform(Xte), yte),
    compute_metrics=metrics, class_weights=weights)
trainer.train()
res = trainer.evaluate()
print({k: round(float(v), 4) for k, v in res.items() if k.split("_")[-1] in ("accuracy", "precision", "recall", "f1", "ap", "loss")})
print(f"average precision {res['eval_ap']:.3f} against base rate {yte.mean():.3f}")
