"""Rare clause finder: class-weighted Trainer, gradient accumulation, F1 for the rare class."""
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

COMMON = "tenant landlord shall pay rent monthly premises lease notice repair keep term party agree days deposit".split()
RARE = "indemnify terminate penalty forfeits waiver breach".split()
VOCAB = ["[PAD]", "[CLS]", "unless", "never"] + COMMON + RARE
IDS = {w: i for i, w in enumerate(VOCAB)}
L = 20


def clause(rng):
    words = list(rng.choice(COMMON, rng.integers(8, 15)))
    r = rng.random()
    label = 0
    if r < 0.06:
        words[rng.integers(len(words))] = rng.choice(RARE)
        words.insert(rng.integers(len(words)), rng.choice(["unless", "never"]))
        label = 1
    elif r < 0.20:
        words[rng.integers(len(words))] = rng.choice(RARE)
    elif r < 0.34:
        words.insert(rng.integers(len(words)), rng.choice(["unless", "never"]))
    ids = [1] + [IDS[w] for w in words]
    has = any(IDS[w] in ids for w in RARE) and (2 in ids or 3 in ids)
    return ids, int(label and has)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    rows = [clause(rng) for _ in range(n)]
    return Dataset.from_dict({
        "input_ids": [i + [0] * (L - len(i)) for i, _ in rows],
        "attention_mask": [[1] * len(i) + [0] * (L - len(i)) for i, _ in rows],
        "label": [y for _, y in rows],
    })


@dataclass
class Balance:
    weights: torch.Tensor


class BalancedTrainer(Trainer):
    def __init__(self, *a, balance, **kw):
        super().__init__(*a, **kw)
        self.balance = balance
        self.model_accepts_loss_kwargs = False

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        loss = nn.functional.cross_entropy(out.logits, labels, weight=self.balance.weights)
        return (loss, out) if return_outputs else loss


def rare_f1(p):
    hat = p.predictions.argmax(-1)
    tp = ((hat == 1) & (p.label_ids == 1)).sum()
    prec = tp / max(1, (hat == 1).sum())
    rec = tp / max(1, (p.label_ids == 1).sum())
    return {"precision": float(prec), "recall": float(rec), "f1": float(2 * prec * rec / max(1e-9, prec + rec))}


if __name__ == "__main__":
    set_seed(17)
    train, test = dataset(5000, 3), dataset(2000, 4)
    share = np.mean(train["label"])
    print(f"rare share {share:.3f}")
    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(VOCAB), dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=L, num_labels=2))
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=7, per_device_train_batch_size=16,
        gradient_accumulation_steps=4, per_device_eval_batch_size=200, learning_rate=2e-3, warmup_ratio=0.1,
        eval_strategy="epoch", logging_steps=40, save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
    w = torch.tensor([1.0, float(min(6.0, (1 - share) / share))])
    trainer = BalancedTrainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                              compute_metrics=rare_f1, balance=Balance(w))
    trainer.train()
    print(trainer.evaluate())
