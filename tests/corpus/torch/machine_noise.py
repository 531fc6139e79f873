import tempfile

import numpy as np
import torch
from torch import nn
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, set_seed

CONFIG = {
    "members": [(0, 24), (1, 32), (2, 40)],
    "epochs": 6,
    "lr": 2e-3,
    "bands": 64,
}
CONDITIONS = ["ok", "bearing", "imbalance", "cavitation"]


def spectrum(state, rng, bands):
    f = np.arange(bands)
    rpm = rng.uniform(4.5, 6.5)
    s = rng.gamma(3.0, 0.15, bands) + 2.0 * np.exp(-f / 20)
    for h in range(1, 9):
        s += 1.2 / h * np.exp(-0.5 * ((f - h * rpm) / 0.7) ** 2)
    if state == 1:
        for h in range(1, 6):
            s += 0.7 * np.exp(-0.5 * ((f - 3.6 * h * rpm) / 0.8) ** 2)
    elif state == 2:
        s += 1.1 * np.exp(-0.5 * ((f - rpm) / 0.8) ** 2)
    elif state == 3:
        s += 0.35 * (f > 35) * rng.gamma(2.0, 0.5, bands)
    return np.log(s)


def recordings(n, seed):
    rng = np.random.default_rng(seed)
    states = rng.integers(0, len(CONDITIONS), n)
    rows = []
    for s in states:
        x = (spectrum(s, rng, CONFIG["bands"]) + 0.2) / 0.6
        rows.append({"bands": torch.tensor(x, dtype=torch.float32), "condition": int(s)})
    return rows


class NoiseNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, width, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(width, width, 5, padding=2), nn.ReLU(), nn.MaxPool1d(4),
        )
        self.out = nn.Linear(width * 8, len(CONDITIONS))
        self.loss = nn.CrossEntropyLoss()

    def forward(self, bands, condition=None):
        logits = self.out(self.conv(bands.unsqueeze(1)).flatten(1))
        if condition is None:
            return {"logits": logits}
        return {"loss": self.loss(logits, condition), "logits": logits}


def metrics(pred):
    guess = pred.predictions.argmax(-1)
    recalls = [(guess[pred.label_ids == c] == c).mean() for c in range(len(CONDITIONS))]
    return {"accuracy": (guess == pred.label_ids).mean(), "balanced": float(np.mean(recalls))}


def fit_member(seed, width, train, valid):
    set_seed(seed)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        seed=seed,
        num_train_epochs=CONFIG["epochs"],
        per_device_train_batch_size=50,
        per_device_eval_batch_size=200,
        learning_rate=CONFIG["lr"],
        label_names=["labels"],
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model="balanced",
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=NoiseNet(width), args=args, train_dataset=train, eval_dataset=valid,
        compute_metrics=metrics, callbacks=[EarlyStoppingCallback(early_stopping_patience=3)],
    )
    trainer.train()
    print(f"member {seed} best balanced {trainer.state.best_metric:.3f}")
    return trainer


train, valid, test = recordings(1500, 1), recordings(400, 2), recordings(600, 3)
probs = []
for seed, width in CONFIG["members"]:
    member = fit_member(seed, width, train, valid)
    logits = torch.tensor(member.predict(test).predictions)
    probs.append(logits.softmax(-1))
vote = torch.stack(probs).mean(0).argmax(-1)
truth = torch.tensor([r["condition"] for r in test])
print(f"ensemble test accuracy {(vote == truth).float().mean():.3f}")
