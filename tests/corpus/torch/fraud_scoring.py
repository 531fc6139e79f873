"""Card fraud (under 1% positives): weighted loss, prior-initialised bias, average precision.

Merchant vectors come from an earlier project and stay frozen.
"""
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score, roc_auc_score
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, set_seed

MERCHANTS, DIM = 120, 8
world = np.random.default_rng(77)
MERCHANT_VEC = world.normal(0, 1, (MERCHANTS, DIM)).astype("float32")
RISK_AXIS = world.normal(0, 1, DIM) / np.sqrt(DIM)


class Transactions(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.merchant = rng.integers(0, MERCHANTS, n)
        hour, amount = rng.integers(0, 24, n), rng.lognormal(3.2, 1.0, n)
        abroad, gap = rng.random(n) < 0.12, rng.exponential(20, n)
        night = (hour < 6)
        logit = (-8.2 + 2.2 * MERCHANT_VEC[self.merchant] @ RISK_AXIS + 2.0 * abroad + 1.8 * night
                 + 0.9 * np.log(amount / 25) + 1.5 * (gap < 3) + 1.5 * abroad * night)
        self.y = (rng.random(n) < 1 / (1 + np.exp(-1.4 * logit))).astype("float32")
        self.x = np.stack([np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), np.log(amount) - 3.2,
                           abroad, np.log1p(gap) - 2.5, night], 1).astype("float32")

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"merchant": int(self.merchant[i]), "x": self.x[i], "labels": self.y[i]}


class Scorer(nn.Module):
    def __init__(self, prior, pos_weight):
        super().__init__()
        self.merchant = nn.Embedding.from_pretrained(torch.from_numpy(MERCHANT_VEC), freeze=True)
        self.net = nn.Sequential(nn.Linear(6 + DIM, 64), nn.SiLU(), nn.Linear(64, 32), nn.SiLU())
        self.out = nn.Linear(32, 1)
        nn.init.zeros_(self.out.weight)
        # with weighting the balanced point moves by log(pos_weight)
        nn.init.constant_(self.out.bias, float(np.log(prior / (1 - prior)) + np.log(pos_weight)))
        self.loss = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(pos_weight))

    def forward(self, merchant, x, labels=None):
        z = self.out(self.net(torch.cat([x, self.merchant(merchant)], -1))).squeeze(-1)
        if labels is None:
            return {"logits": z}
        return {"loss": self.loss(z, labels), "logits": z}


def metrics(p):
    return {"ap": average_precision_score(p.label_ids, p.predictions),
            "auc": roc_auc_score(p.label_ids, p.predictions)}


def main():
    set_seed(0)
    train, valid, test = Transactions(16000, 1), Transactions(6000, 2), Transactions(10000, 3)
    prior = float(train.y.mean())
    model = Scorer(prior, pos_weight=float(np.sqrt((1 - prior) / prior)))
    print("trainable", sum(p.numel() for p in model.parameters() if p.requires_grad),
          "of", sum(p.numel() for p in model.parameters()), f"positives {prior:.4f}")

    args = TrainingArguments(
        output_dir="out/fraud", num_train_epochs=8, per_device_train_batch_size=256,
        per_device_eval_batch_size=2000, learning_rate=4e-3, lr_scheduler_type="cosine",
        eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
        metric_for_best_model="ap", greater_is_better=True, logging_strategy="epoch",
        report_to=[], disable_tqdm=True, use_cpu=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                      compute_metrics=metrics, callbacks=[EarlyStoppingCallback(4)])
    trainer.train()
    m = trainer.evaluate(test)
    print(f"average precision of a random ranking {test.y.mean():.4f}, "
          f"by amount {average_precision_score(test.y, test.x[:, 2]):.4f}")
    print(f"test average precision {m['eval_ap']:.4f}, AUC {m['eval_auc']:.4f}")


if __name__ == "__main__":
    main()
