import numpy as np
import torch
from torch import nn
from sklearn.metrics import average_precision_score, f1_score
from transformers import Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import SequenceClassifierOutput

set_seed(41)
gen = np.random.default_rng(41)
MOODS = ["calm", "sad", "party", "angry", "epic", "weird"]
DIM = 30
MIX = gen.standard_normal((DIM, len(MOODS)))
SHIFT = np.array([-3.0, -7.0, -6.0, -8.0, -6.5, -7.5])


def songs(n):
    feats = gen.standard_normal((n, DIM))
    y = (feats @ MIX + SHIFT + gen.standard_normal((n, len(MOODS))) * 0.7) > 0
    return [{"features": f.astype("float32"), "tags": t.astype("float32")} for f, t in zip(feats, y)]


class MoodTagger(nn.Module):
    def __init__(self, prior):
        super().__init__()
        self.linear = nn.Linear(DIM, len(MOODS))
        nn.init.zeros_(self.linear.weight)
        with torch.no_grad():
            self.linear.bias.copy_(torch.log(prior / (1 - prior)))

    def forward(self, features, tags=None):
        logits = self.linear(features)
        loss = None
        if tags is not None:
            loss = nn.functional.binary_cross_entropy_with_logits(logits, tags)
        return SequenceClassifierOutput(loss=loss, logits=logits)


def stack(rows):
    return {k: torch.tensor(np.stack([r[k] for r in rows])) for k in ("features", "tags")}


def metrics(p):
    guess = (p.predictions > 0).astype(int)
    return {"macro_f1": f1_score(p.label_ids, guess, average="macro", zero_division=0),
            "mean_ap": average_precision_score(p.label_ids, p.predictions, average="macro"),
            "exact": float((guess == p.label_ids).all(1).mean())}


train, test = songs(3000), songs(1000)
prior = torch.tensor(np.mean([r["tags"] for r in train], axis=0))
args = TrainingArguments(
    output_dir="out/moods", num_train_epochs=15, per_device_train_batch_size=50,
    per_device_eval_batch_size=250, optim="sgd", learning_rate=3.0, lr_scheduler_type="linear",
    max_grad_norm=0.0, label_names=["tags"], eval_strategy="epoch", logging_strategy="epoch",
    save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=MoodTagger(prior), args=args, train_dataset=train, eval_dataset=test,
                  data_collator=stack, compute_metrics=metrics)
start = trainer.evaluate()
trainer.train()
end = trainer.evaluate()
truth = np.stack([r["tags"] for r in test])
print("share of each mood", dict(zip(MOODS, truth.mean(0).round(3).tolist())))
print(f"loss {start['eval_loss']:.3f} -> {end['eval_loss']:.3f}  all-negative exact match {(truth == 0).all(1).mean():.3f}")
print(f"macro f1 {end['eval_macro_f1']:.3f}  mean ap {end['eval_mean_ap']:.3f}  exact match {end['eval_exact']:.3f}")
