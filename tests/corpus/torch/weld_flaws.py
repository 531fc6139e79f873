"""Rare weld flaws (about 3 %), weighted loss in a Trainer subclass; reports recall and precision, not accuracy."""
import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed


def welds(n, rng):
    y = (rng.random(n) < 0.03).astype(np.int64)
    x = rng.normal(size=(n, 24)).astype(np.float32)
    bump = rng.normal(1.6, 0.3, size=(n, 4))
    x[:, :4] += (y[:, None] * bump).astype(np.float32)
    x[:, 4] *= 1 + 1.5 * y
    return x, y


class WeldSet(torch.utils.data.Dataset):
    def __init__(self, n, rng):
        self.x, self.y = welds(n, rng)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": int(self.y[i])}


class FlawNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 2))

    def forward(self, x, labels=None):
        return {"logits": self.net(x)}


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weights, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs["logits"], labels, weight=self.class_weights)
        return (loss, {"loss": loss, **outputs}) if return_outputs else loss


def rare_metrics(p):
    guess, gold = p.predictions.argmax(-1), p.label_ids
    tp = int(((guess == 1) & (gold == 1)).sum())
    recall = tp / max(int((gold == 1).sum()), 1)
    precision = tp / max(int((guess == 1).sum()), 1)
    specificity = float((guess[gold == 0] == 0).mean())
    return {"recall": recall, "precision": precision, "balanced_acc": (recall + specificity) / 2}


def main():
    set_seed(12)
    rng = np.random.default_rng(12)
    train, test = WeldSet(12000, rng), WeldSet(5000, rng)
    share = np.bincount(train.y) / len(train)
    weights = torch.tensor(1.0 / np.sqrt(share), dtype=torch.float32)
    print("share", share, "weights", weights.tolist())
    args = TrainingArguments(output_dir="out", num_train_epochs=5, per_device_train_batch_size=128,
                             per_device_eval_batch_size=1000, learning_rate=3e-3, weight_decay=0.01,
                             eval_strategy="epoch", save_strategy="no", logging_steps=94, report_to=[],
                             disable_tqdm=True, use_cpu=True)
    trainer = WeightedTrainer(FlawNet(), args, train_dataset=train, eval_dataset=test,
                              compute_metrics=rare_metrics, class_weights=weights)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
