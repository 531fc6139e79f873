"""Low-rank adaptation of a small encoder: pretrain on stop announcements, adapt to delay notices."""
import math
import tempfile

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

PAD, CLS, SEP = 0, 1, 2
N_STOPS, N_NOISE = 24, 20
VOCAB = 3 + N_STOPS + N_NOISE


class Announcements(Dataset):
    """source task: which of six zones do the stops belong to"""

    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.rows = []
        for _ in range(n):
            zone = int(g.integers(6))
            stops = 3 + zone * 4 + g.integers(0, 4, size=2)
            noise = 3 + N_STOPS + g.integers(0, N_NOISE, size=6)
            body = g.permutation(np.concatenate([stops, noise])).tolist()
            self.rows.append(([CLS] + body + [SEP], zone))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        x, y = self.rows[i]
        return {"input_ids": torch.tensor(x), "attention_mask": torch.ones(len(x), dtype=torch.long),
                "labels": torch.tensor(y)}


class Delays(Announcements):
    """target task: what held the tram up, told by the words around the stops"""

    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.rows = []
        for _ in range(n):
            cause = int(g.integers(5))
            words = 3 + N_STOPS + cause + 5 * g.integers(0, 4, size=3)
            others = 3 + N_STOPS + g.integers(0, N_NOISE, size=2)
            stops = 3 + g.integers(0, N_STOPS, size=4)
            body = g.permutation(np.concatenate([words, others, stops])).tolist()
            self.rows.append(([CLS] + body + [SEP], cause))


class LowRank(nn.Module):
    def __init__(self, base, r=8, alpha=16, dropout=0.0):
        super().__init__()
        self.base = base
        self.scale = alpha / r
        self.drop = nn.Dropout(dropout)
        self.down = nn.Linear(base.in_features, r, bias=False)
        self.up = nn.Linear(r, base.out_features, bias=False)
        nn.init.kaiming_uniform_(self.down.weight, a=math.sqrt(5))
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.scale * self.up(self.down(self.drop(x)))


def inject(model, targets=("query", "key", "value", "dense"), r=8):
    for parent in list(model.bert.encoder.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and name in targets:
                setattr(parent, name, LowRank(child, r=r))
    return model


def mark_trainable(model):
    for name, p in model.named_parameters():
        p.requires_grad = "lora_" in name or name.startswith("classifier")


def acc(p):
    return {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def fit(model, train, test, epochs, lr, tmp):
    args = TrainingArguments(tmp, num_train_epochs=epochs, learning_rate=lr, per_device_train_batch_size=32,
                             per_device_eval_batch_size=128, logging_steps=50, save_strategy="no",
                             report_to="none", disable_tqdm=True, warmup_ratio=0.05)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=acc)
    trainer.train()
    return trainer.evaluate()


def config(n):
    return BertConfig(vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                      intermediate_size=128, max_position_embeddings=16, num_labels=n, initializer_range=0.1,
                      hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.05)


def main():
    set_seed(8)
    with tempfile.TemporaryDirectory() as tmp:
        source = BertForSequenceClassification(config(6))
        print("source", fit(source, Announcements(1200, 0), Announcements(300, 1), 4, 1e-3, tmp))

        model = BertForSequenceClassification(config(5))
        model.bert.load_state_dict(source.bert.state_dict())
        inject(model)
        mark_trainable(model)
        print("target", fit(model, Delays(2000, 2), Delays(400, 3), 8, 2e-3, tmp))


if __name__ == "__main__":
    main()
