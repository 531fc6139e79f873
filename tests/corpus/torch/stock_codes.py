import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import SequentialSampler
from transformers import Trainer, TrainingArguments, set_seed

set_seed(30)
rng = random.Random(30)
SECTIONS = {"tools": "HKM", "paint": "PQR", "timber": "TWX", "garden": "GVY", "lights": "LNZ"}
NAMES = list(SECTIONS)


def code(section):
    letters = rng.choices(SECTIONS[section], k=3) + rng.choices("ABCDE", k=2)
    rng.shuffle(letters)
    return "".join(letters) + f"{rng.randint(0, 999):03d}"


rows = [(code(name), i) for i, name in enumerate(NAMES) for _ in range(400)]
rng.shuffle(rows)
CHARS = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")}
rows = [{"chars": [CHARS[c] for c in text], "labels": y} for text, y in rows]
train, test = rows[:1600], rows[1600:]


class CodeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.EmbeddingBag(len(CHARS), 24, mode="mean")
        self.out = nn.Linear(24, len(NAMES))
        self.criterion = nn.NLLLoss()

    def forward(self, chars, labels=None):
        scores = torch.log_softmax(self.out(self.letters(chars)), dim=-1)
        if labels is None:
            return (scores,)
        return self.criterion(scores, labels), scores


class InOrder(Trainer):
    def _get_train_sampler(self, dataset=None):
        return SequentialSampler(self.train_dataset)


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=-1) == p.label_ids).mean())}


args = TrainingArguments("out/stock_codes", optim="sgd", learning_rate=1.0, weight_decay=0.0, num_train_epochs=10,
                         per_device_train_batch_size=16, lr_scheduler_type="linear", max_grad_norm=0.0,
                         logging_steps=100, save_strategy="no", report_to="none", disable_tqdm=True)
trainer = InOrder(CodeModel(), args, train_dataset=train, eval_dataset=test, compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
