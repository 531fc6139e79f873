"""Fraud detection on insurance claims with 4 % positives: focal loss, accumulation and macro batches in the Trainer."""
import numpy as np
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import nn
from torch.utils.data import Dataset, WeightedRandomSampler
from transformers import Trainer, TrainingArguments, set_seed

BRANDS, REGIONS, GARAGES = 20, 12, 60


def claims(n, seed):
    g = np.random.default_rng(seed)
    k = np.random.default_rng(99)
    shady_garage = k.random(GARAGES) < 0.12
    brand, region, garage = g.integers(0, BRANDS, n), g.integers(0, REGIONS, n), g.integers(0, GARAGES, n)
    age, amount, delay = g.gamma(2, 3, n), g.lognormal(7.2, 0.7, n), g.exponential(6, n)
    night, witness = g.integers(0, 2, n), g.integers(0, 3, n)
    score = (2.6 * shady_garage[garage] + 1.1 * (np.log(amount) - 7.2) * (age > 6) + 0.9 * night * (witness == 0)
             + 0.09 * np.minimum(delay, 25) + 0.5 * (region == 3) - 5.6)
    y = (g.random(n) < 1 / (1 + np.exp(-1.4 * (score + 1.5)))).astype(np.float32)
    num = np.column_stack([np.log1p(age) - 1.8, np.log(amount) - 7.2, np.log1p(delay) - 1.6, night - 0.5, witness - 1.0])
    return np.column_stack([brand, region, garage]), num.astype(np.float32), y


class Claims(Dataset):
    def __init__(self, n, seed):
        cat, num, y = claims(n, seed)
        self.cat, self.num, self.y = torch.from_numpy(cat), torch.from_numpy(num), torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"cat": self.cat[i], "num": self.num[i], "labels": self.y[i]}


class ClaimNet(nn.Module):
    def __init__(self, dims=(4, 4, 8)):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, d) for n, d in zip((BRANDS, REGIONS, GARAGES), dims))
        self.mlp = nn.Sequential(nn.Linear(sum(dims) + 5, 64), nn.Mish(), nn.Dropout(0.15), nn.Linear(64, 32), nn.Mish(), nn.Linear(32, 1))
        nn.init.constant_(self.mlp[-1].bias, -1.0)

    def forward(self, cat, num, labels=None):
        e = [t(cat[:, j]) for j, t in enumerate(self.tables)]
        return {"logits": self.mlp(torch.cat([*e, num], dim=1)).squeeze(1)}


class FraudTrainer(Trainer):
    """Draws frauds more often (about one in six) and uses the focal loss on top of it."""

    def __init__(self, *a, gamma=1.5, **kw):
        super().__init__(*a, **kw)
        self.gamma = gamma
        self.model_accepts_loss_kwargs = False

    def _get_train_sampler(self, train_dataset=None):
        y = self.train_dataset.y
        w = torch.where(y > 0, 0.17 / y.mean(), 0.83 / (1 - y.mean()))
        return WeightedRandomSampler(w, num_samples=len(y), replacement=True)

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        y = inputs["labels"]
        out = model(**inputs)
        bce = nn.functional.binary_cross_entropy_with_logits(out["logits"], y, reduction="none")
        p_true = torch.exp(-bce)
        loss = ((1 - p_true) ** self.gamma * bce).mean()
        return (loss, out) if return_outputs else loss


def ranking(p):
    return {"ap": average_precision_score(p.label_ids, p.predictions), "auc": roc_auc_score(p.label_ids, p.predictions)}


def main():
    set_seed(41)
    train, valid, test = Claims(10000, 0), Claims(3000, 1), Claims(6000, 2)
    print(f"fraud share: train {train.y.mean():.3f}, test {test.y.mean():.3f}")
    args = TrainingArguments(
        output_dir="out/claims", num_train_epochs=5, per_device_train_batch_size=32, gradient_accumulation_steps=4,
        per_device_eval_batch_size=1000, learning_rate=8e-3, lr_scheduler_type="cosine", warmup_ratio=0.05,
        weight_decay=0.05, adam_beta2=0.98, max_grad_norm=0.5, label_names=["labels"], logging_steps=80,
        eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
        metric_for_best_model="ap", greater_is_better=True, report_to="none", disable_tqdm=True, use_cpu=True)
    trainer = FraudTrainer(model=ClaimNet(), args=args, train_dataset=train, eval_dataset=valid, compute_metrics=ranking)
    trainer.train()
    m = trainer.evaluate(test, metric_key_prefix="test")
    amount_only = average_precision_score(test.y.numpy(), test.num[:, 1].numpy())
    print(f"test average precision {m['test_ap']:.3f}  auc {m['test_auc']:.3f}  "
          f"(random {test.y.mean():.3f}, claim amount alone {amount_only:.3f})")


if __name__ == "__main__":
    main()
