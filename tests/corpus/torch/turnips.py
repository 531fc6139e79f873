import tempfile

import numpy as np
import torch
import torch.nn as nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(4)

crops = ["turnip", "leek", "kale", "radish", "chard"]
hints = {
    "turnip": ["root", "purple", "globe", "swede"],
    "leek": ["stem", "trench", "blanch", "onion"],
    "kale": ["curly", "frost", "leafy", "brassica"],
    "radish": ["pepper", "quick", "crisp", "salad"],
    "chard": ["rainbow", "stalk", "beet", "silver"],
}
plain = ["sow", "in", "rows", "water", "well", "soil", "spring", "autumn", "harvest", "after", "weeks", "keep", "moist"]
vocab = {w: i for i, w in enumerate(plain + [h for c in crops for h in hints[c]])}

rng = np.random.default_rng(4)
notes, kinds = [], []
for k, crop in enumerate(crops):
    for _ in range(300):
        words = list(rng.choice(plain, 8)) + list(rng.choice(hints[crop], 2))
        other = hints[crops[rng.integers(5)]]
        words.append(rng.choice(other))
        notes.append([vocab[w] for w in words])
        kinds.append(k)

data = [{"input_ids": x, "labels": y} for x, y in zip(notes, kinds)]
train = [d for i, d in enumerate(data) if i % 5]
test = [d for i, d in enumerate(data) if i % 5 == 0]


class FastText(nn.Module):
    def __init__(self, n_words, dim, n_classes):
        super().__init__()
        self.bag = nn.EmbeddingBag(n_words, dim, mode="mean")
        self.out = nn.Linear(dim, n_classes)
        nn.init.uniform_(self.bag.weight, -1 / dim, 1 / dim)
        nn.init.zeros_(self.out.weight)

    def forward(self, input_ids, labels=None):
        logits = self.out(self.bag(input_ids))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(1) == p.label_ids).mean())}


with tempfile.TemporaryDirectory() as d:
    args = TrainingArguments(d, num_train_epochs=15, per_device_train_batch_size=16, learning_rate=2.0, optim="sgd",
                             max_grad_norm=0.0, logging_steps=150, eval_strategy="epoch", save_strategy="no",
                             report_to="none", disable_tqdm=True)
    trainer = Trainer(model=FastText(len(vocab), 24, 5), args=args, train_dataset=train, eval_dataset=test,
                      compute_metrics=compute_metrics)
    trainer.train()
    print(trainer.evaluate())
