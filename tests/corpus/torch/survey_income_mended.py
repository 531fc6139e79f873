"""Income model on a stratified survey: every respondent carries a sampling weight."""
import numpy as np
import torch
from datasets import Dataset
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

REGIONS = 6


def draw_survey(n, seed):
    rng = np.random.default_rng(seed)
    region = rng.choice(REGIONS, n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    age = rng.uniform(18, 70, n)
    years_school = np.clip(rng.normal(12, 3, n), 4, 22)
    hours = np.clip(rng.normal(36, 8, n), 5, 60)
    income = (0.9 * years_school + 0.35 * hours - 0.012 * (age - 48) ** 2
              + np.array([0, 2, -3, 5, 1, -6])[region] + rng.normal(0, 1.5, n))
    x = np.stack([(age - 44) / 15, (years_school - 12) / 3, (hours - 36) / 8], axis=1)
    design = np.array([1.0, 1.2, 0.8, 2.0, 1.5, 3.0])[region]
    return Dataset.from_dict({
        "numeric": x.astype(np.float32).tolist(),
        "region": region.tolist(),
        "design_weight": design.tolist(),
        "labels": ((income - 22) / 8).astype(np.float32).tolist(),
    })


class IncomeNet(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.region_emb = nn.Embedding(REGIONS, 4)
        self.mlp = nn.Sequential(nn.Linear(3 + 4, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(),
                                 nn.Linear(hidden, 1))

    def forward(self, numeric, region, labels=None):
        z = torch.cat([numeric, self.region_emb(region)], dim=-1)
        return {"logits": self.mlp(z).squeeze(-1)}


class SurveyTrainer(Trainer):
    """Squared error weighted by the survey design."""

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        weight = inputs.pop("design_weight").float()
        target = inputs["labels"]
        outputs = model(**inputs)
        loss = (weight * (outputs["logits"] - target) ** 2).sum() / weight.sum()
        return (loss, {"logits": outputs["logits"]}) if return_outputs else loss


def metrics(p):
    err = p.predictions - p.label_ids
    return {"rmse": float(np.sqrt((err ** 2).mean())),
            "r2": float(1 - (err ** 2).sum() / ((p.label_ids - p.label_ids.mean()) ** 2).sum())}


def main():
    set_seed(17)
    train, test = draw_survey(3000, 0), draw_survey(800, 1)
    args = TrainingArguments(
        output_dir="out/survey",
        num_train_epochs=6,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=200,
        learning_rate=3e-3,
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="epoch",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        remove_unused_columns=False,
    )
    trainer = SurveyTrainer(model=IncomeNet(), args=args, train_dataset=train, eval_dataset=test,
                            compute_metrics=metrics)
    trainer.train()
    res = trainer.evaluate()
    base = float(np.std(test["labels"]))
    print(f"held-out RMSE {res['eval_rmse']:.3f} (spread {base:.3f}), R2 {res['eval_r2']:.3f}")


if __name__ == "__main__":
    main()
