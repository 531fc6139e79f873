import random
import tempfile

import numpy as np
from datasets import Dataset
from torch import nn
from transformers import (DistilBertConfig, DistilBertModel, Trainer, TrainingArguments, set_seed)
from transformers.modeling_outputs import SequenceClassifierOutput

TEAMS = {
    "billing": "invoice refund charge card payment receipt tax price".split(),
    "network": "router wifi latency cable signal outage dns modem".split(),
    "account": "password login email username profile locked reset code".split(),
    "hardware": "screen battery keyboard fan charger hinge speaker disk".split(),
}
NOISE = "hello please my the is not working since yesterday i need help with it thanks again".split()
SEQ = 24


def sample_tickets(n, seed):
    rng = random.Random(seed)
    names = list(TEAMS)
    rows = {"text": [], "labels": []}
    for _ in range(n):
        team = rng.randrange(len(names))
        other = rng.randrange(len(names))
        words = rng.choices(TEAMS[names[team]], k=3) + rng.choices(TEAMS[names[other]], k=1)
        words += rng.choices(NOISE, k=rng.randint(4, 18))
        rng.shuffle(words)
        rows["text"].append(" ".join(words))
        rows["labels"].append(team)
    return Dataset.from_dict(rows)


class WordIndex:
    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.ids = {w: i + 2 for i, w in enumerate(words)}

    def __len__(self):
        return len(self.ids) + 2

    def __call__(self, batch):
        ids, mask = [], []
        for text in batch["text"]:
            row = [self.ids.get(w, 1) for w in text.split()][:SEQ]
            ids.append(row + [0] * (SEQ - len(row)))
            mask.append([1] * len(row) + [0] * (SEQ - len(row)))
        return {"input_ids": ids, "attention_mask": mask}


class MeanPoolRouter(nn.Module):
    def __init__(self, config, n_teams):
        super().__init__()
        self.encoder = DistilBertModel(config)
        self.head = nn.Sequential(nn.LayerNorm(config.dim), nn.Dropout(0.1), nn.Linear(config.dim, n_teams))
        self.loss_fn = nn.CrossEntropyLoss()

    def forward(self, input_ids=None, attention_mask=None, labels=None):
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weight = attention_mask.unsqueeze(-1).float()
        logits = self.head((hidden * weight).sum(1) / weight.sum(1))
        loss = self.loss_fn(logits, labels) if labels is not None else None
        return SequenceClassifierOutput(loss=loss, logits=logits)


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


set_seed(13)
train, test = sample_tickets(1600, 1), sample_tickets(400, 2)
index = WordIndex(train["text"])
train, test = train.map(index, batched=True), test.map(index, batched=True)

config = DistilBertConfig(vocab_size=len(index), max_position_embeddings=SEQ, dim=64, n_layers=2,
                          n_heads=4, hidden_dim=128, pad_token_id=0)
model = MeanPoolRouter(config, len(TEAMS))
args = TrainingArguments(output_dir=tempfile.mkdtemp(), learning_rate=1e-3, num_train_epochs=4,
                         per_device_train_batch_size=32, per_device_eval_batch_size=100,
                         eval_strategy="epoch", save_strategy="no", logging_steps=25, report_to="none",
                         label_names=["labels"])
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                  compute_metrics=compute_metrics)
trainer.train()
final = trainer.evaluate()
print(f"test accuracy {final['eval_accuracy']:.4f} test loss {final['eval_loss']:.4f} (chance 0.25)")
