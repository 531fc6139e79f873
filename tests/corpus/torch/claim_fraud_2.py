"""
Rare fraud in insurance claims (about 5 % positives): a custom PreTrainedModel over mixed categorical and numeric
columns. Focal loss with an upweighted positive class, plain SGD with a high rate, one-cycle schedule.
"""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from datasets import Dataset
from sklearn.metrics import average_precision_score, roc_auc_score
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import SequenceClassifierOutput

CARDS = [12, 30, 7]


class ClaimConfig(PretrainedConfig):
    model_type = "claim-net"

    def __init__(self, width=48, n_numeric=6, gamma=1.5, pos_weight=6.0, prior=0.04, **kw):
        self.width, self.n_numeric, self.gamma, self.pos_weight, self.prior = width, n_numeric, gamma, pos_weight, prior
        super().__init__(**kw)


class ClaimNet(PreTrainedModel):
    config_class = ClaimConfig

    def __init__(self, config):
        super().__init__(config)
        self.tables = nn.ModuleList([nn.Embedding(c, 6) for c in CARDS])
        self.inp = nn.Linear(config.n_numeric + 6 * len(CARDS), config.width)
        self.mid = nn.Linear(config.width, config.width)
        self.norm1, self.norm2 = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.out = nn.Linear(config.width, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.constant_(self.out.bias, -math.log((1 - config.prior) / config.prior))

    def forward(self, cats, nums, labels=None):
        h = torch.cat([t(cats[:, k]) for k, t in enumerate(self.tables)] + [nums], dim=-1)
        h = F.gelu(self.norm1(self.inp(h)))
        h = h + F.gelu(self.norm2(self.mid(h)))
        logit = self.out(h).squeeze(-1)
        loss = None
        if labels is not None:
            y = labels.float()
            bce = F.binary_cross_entropy_with_logits(logit, y, reduction="none",
                                                     pos_weight=torch.tensor(self.config.pos_weight))
            p_right = torch.where(y > 0.5, logit.sigmoid(), (-logit).sigmoid())
            loss = ((1 - p_right) ** self.config.gamma * bce).mean()
        return SequenceClassifierOutput(loss=loss, logits=logit)


def make_claims(n, rng):
    cats = np.stack([rng.integers(0, c, n) for c in CARDS], 1)
    nums = rng.normal(size=(n, 6))
    nums[:, 0] = np.exp(nums[:, 0])
    risk = (1.3 * np.isin(cats[:, 0], [2, 5, 9]) + 1.5 * np.isin(cats[:, 1], [3, 8, 21, 22]) * (nums[:, 1] > 0)
            + 0.9 * np.log(nums[:, 0]) + 1.2 * nums[:, 2] * (cats[:, 2] == 4) - 0.7 * nums[:, 3] ** 2)
    p = 1 / (1 + np.exp(-(1.6 * risk - 4.3)))
    y = (rng.random(n) < p).astype(int)
    nums[:, 0] = np.log(nums[:, 0])
    return Dataset.from_dict({"cats": cats.tolist(), "nums": nums.astype(np.float32).tolist(), "labels": y.tolist()})


def metrics(p):
    return {"ap": average_precision_score(p.label_ids, p.predictions),
            "auc": roc_auc_score(p.label_ids, p.predictions)}


def main():
    set_seed(9)
    rng = np.random.default_rng(9)
    train, test = make_claims(20000, rng), make_claims(5000, rng)
    rate = float(np.mean(train["labels"]))
    model = ClaimNet(ClaimConfig(prior=rate))
    epochs, bs = 5, 100
    steps = epochs * math.ceil(len(train) / bs)
    opt = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.3, total_steps=steps, pct_start=0.25)
    args = TrainingArguments(output_dir="out/claims", num_train_epochs=epochs, per_device_train_batch_size=bs,
                             per_device_eval_batch_size=1000, eval_strategy="epoch", logging_steps=120,
                             save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=metrics,
                      optimizers=(opt, sched))
    trainer.train()
    res = trainer.evaluate()
    print(f"test AP {res['eval_ap']:.3f} (positive rate {np.mean(test['labels']):.3f})  AUC {res['eval_auc']:.3f}")


if __name__ == "__main__":
    main()
