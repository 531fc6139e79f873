import numpy as np
import torch
from torch import nn
from datasets import Dataset
from sklearn.metrics import average_precision_score, balanced_accuracy_score, f1_score
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments, set_seed

set_seed(17)
g = np.random.default_rng(17)
N = 12000
amount = g.lognormal(3.0, 1.0, N)
hour = g.integers(0, 24, N)
foreign = g.random(N) < 0.15
age = g.gamma(2.0, 300.0, N)
tries = g.poisson(0.4, N)
score = 0.9 * np.log(amount) + 1.6 * foreign + 1.2 * ((hour < 5) | (hour > 22)) - 0.004 * age + 1.1 * tries
label = (score + g.logistic(0, 0.4, N) > np.quantile(score, 0.97)).astype(np.int64)
X = np.stack([np.log1p(amount), np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), foreign,
              np.log1p(age), tries], axis=1)
order = g.permutation(N)
cut = int(0.75 * N)
mu, sd = X[order[:cut]].mean(0), X[order[:cut]].std(0)
X = ((X - mu) / sd).astype(np.float32)
train, test = (Dataset.from_dict({"x": X[i], "labels": label[i]}) for i in (order[:cut], order[cut:]))
share = label[order[:cut]].mean()
print(f"{N} payments, {share:.1%} of the training rows are fraud")


class TabConfig(PretrainedConfig):
    model_type = "tabnet-mini"

    def __init__(self, n_in=6, width=48, **kw):
        super().__init__(**kw)
        self.n_in, self.width = n_in, width


class TabModel(PreTrainedModel):
    config_class = TabConfig

    def __init__(self, config):
        super().__init__(config)
        w = config.width
        self.net = nn.Sequential(nn.Linear(config.n_in, w), nn.ReLU(), nn.Linear(w, w), nn.ReLU(), nn.Linear(w, 1))

    def forward(self, x, labels=None):
        return {"logits": self.net(x).squeeze(-1)}


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        weight = torch.tensor((1 - share) / share, dtype=torch.float32)
        loss = nn.functional.binary_cross_entropy_with_logits(out["logits"], labels.float(), pos_weight=weight)
        return (loss, out) if return_outputs else loss


def metrics(p):
    guess = (p.predictions > 0).astype(int)
    return {"accuracy": (guess == p.label_ids).mean(), "balanced": balanced_accuracy_score(p.label_ids, guess),
            "f1": f1_score(p.label_ids, guess), "ap": average_precision_score(p.label_ids, p.predictions)}


trainer = WeightedTrainer(
    TabModel(TabConfig()),
    TrainingArguments("out_payments", num_train_epochs=10, per_device_train_batch_size=64,
                      gradient_accumulation_steps=4, learning_rate=5e-3, eval_strategy="epoch",
                      per_device_eval_batch_size=512, logging_steps=50, save_strategy="no", report_to="none",
                      label_names=["labels"], disable_tqdm=True),
    train_dataset=train, eval_dataset=test, compute_metrics=metrics)
trainer.train()
print({k: round(float(v), 4) for k, v in trainer.evaluate().items()})
print(f"always 'no fraud' would have accuracy {1 - label[order[cut:]].mean():.4f}, ap {label[order[cut:]].mean():.4f}")
