"""Freight bills, two heads on one encoder: kind of damage and declared value."""
import argparse
import random
import tempfile
from collections import defaultdict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import MPNetConfig, MPNetModel, PreTrainedModel, Trainer, TrainingArguments, set_seed
from transformers.utils import ModelOutput

KINDS = {"wet": ["soaked", "mould", "leak", "rust", "damp"],
         "crushed": ["bent", "dented", "flat", "stacked", "cracked"],
         "late": ["delay", "held", "queue", "strike", "snow"],
         "lost": ["missing", "absent", "short", "unfound", "stray"]}
NEGATE = ["not", "never"]
GOODS = {"piano": 5200, "lathe": 9100, "carpet": 1400, "crates": 600, "engine": 12500, "glass": 2300, "linen": 900}
SIZES = {"small": 0.6, "plain": 1.0, "large": 1.5, "bulk": 2.2}
FILL = "the at of on consignee depot noted received our by was with driver pallet".split()


def bill(rng):
    kinds = list(KINDS)
    y, d = rng.sample(range(4), 2)
    true = [rng.choice(KINDS[kinds[y]])]
    denied = [rng.choice(NEGATE), rng.choice(KINDS[kinds[d]])]
    good, size = rng.choice(list(GOODS)), rng.choice(list(SIZES))
    parts = [true, denied, [size, good], [rng.choice(FILL)], [rng.choice(FILL)], [rng.choice(FILL)]]
    rng.shuffle(parts)
    return [w for p in parts for w in p], y, GOODS[good] * SIZES[size] * rng.uniform(0.95, 1.05)


class Bills(torch.utils.data.Dataset):
    def __init__(self, raw, vocab):
        self.rows = []
        for words, kind, value in raw:
            self.rows.append({
                "input_ids": [0] + [vocab[w] for w in words] + [2],
                "kind": kind,
                "value": value,
            })

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class TwoHeads(PreTrainedModel):
    config_class = MPNetConfig

    def __init__(self, config):
        super().__init__(config)
        self.mpnet = MPNetModel(config, add_pooling_layer=False)
        self.kind_head = nn.Linear(config.hidden_size, len(KINDS))
        self.value_head = nn.Sequential(nn.Linear(config.hidden_size, 32), nn.ReLU(), nn.Linear(32, 1))
        self.register_buffer("value_mean", torch.tensor(0.0))
        self.register_buffer("value_std", torch.tensor(1.0))
        self.post_init()

    def forward(self, input_ids, kind=None, value=None):
        h = self.mpnet(input_ids=input_ids, attention_mask=torch.ones_like(input_ids)).last_hidden_state.mean(1)
        kind_logits, value_hat = self.kind_head(h), self.value_head(h).squeeze(-1)
        value_hat = value_hat * self.value_std + self.value_mean
        loss = None
        if kind is not None:
            loss = F.cross_entropy(kind_logits, kind) + F.mse_loss(value_hat, value)
        return ModelOutput(loss=loss, logits=kind_logits, value_hat=value_hat)


def metrics(p):
    (kind_logits, value_hat), (kind, value) = p.predictions, p.label_ids
    r2 = 1 - np.square(value_hat - value).sum() / np.square(value - value.mean()).sum()
    return {"kind_acc": float((kind_logits.argmax(-1) == kind).mean()), "value_r2": float(r2)}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--lr", type=float, default=1e-3)
    cfg = ap.parse_args()
    set_seed(77)
    rng = random.Random(77)
    vocab = defaultdict(lambda: len(vocab))
    for w in ["<s>", "<pad>", "</s>"]:
        vocab[w]
    raw = [bill(rng) for _ in range(3300)]
    values = np.array([v for _, _, v in raw[:3000]])
    mu, sd = float(values.mean()), float(values.std())
    train, test = Bills(raw[:3000], vocab), Bills(raw[3000:], vocab)
    print(f"{len(vocab)} words, value {mu:.0f} +- {sd:.0f}")

    model = TwoHeads(MPNetConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                 intermediate_size=128, max_position_embeddings=24,
                                 hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    model.value_mean.fill_(mu)
    model.value_std.fill_(sd)
    with tempfile.TemporaryDirectory() as tmp:
        args = TrainingArguments(tmp, num_train_epochs=cfg.epochs, learning_rate=cfg.lr,
                                 per_device_train_batch_size=32, per_device_eval_batch_size=100,
                                 label_names=["kind", "value"], eval_strategy="epoch", save_strategy="no",
                                 logging_steps=60, warmup_ratio=0.05, report_to="none", disable_tqdm=True)
        trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=metrics)
        trainer.train()
        print(trainer.evaluate())


if __name__ == "__main__":
    main()
