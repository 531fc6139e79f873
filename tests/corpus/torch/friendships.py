"""Which club does a person belong to?  Two-layer graph convolution on one network; 12 % of the clubs are known."""
import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

N, CLUBS = 400, 4


def network(seed):
    g = np.random.default_rng(seed)
    club = np.repeat(np.arange(CLUBS), N // CLUBS)
    p = np.where(club[:, None] == club[None], 0.06, 0.006)
    adj = np.triu(g.random((N, N)) < p, 1)
    adj = (adj | adj.T | np.eye(N, dtype=bool)).astype(np.float32)
    deg = adj.sum(1) ** -0.5
    x = g.normal(size=(N, 24)).astype(np.float32)
    x[np.arange(N), club] += 0.8
    known = g.random(N) < 0.12
    return torch.tensor(x), torch.tensor(deg[:, None] * adj * deg[None]), torch.tensor(club), torch.tensor(known)


class OneGraph(torch.utils.data.Dataset):
    def __init__(self, x, adj, club, mask):
        self.item = {"x": x, "adj": adj, "labels": club.masked_fill(~mask, -100)}

    def __len__(self):
        return 1

    def __getitem__(self, i):
        return self.item


class GCN(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.w1, self.w2 = nn.Linear(24, hidden), nn.Linear(hidden, CLUBS)
        self.drop = nn.Dropout(0.5)

    def forward(self, x, adj, labels=None):
        h = torch.relu(adj @ self.w1(self.drop(x)))
        logits = adj @ self.w2(self.drop(h))
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=-100)
        return {"loss": loss, "logits": logits}


def node_accuracy(p):
    keep = p.label_ids != -100
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids)[keep].mean()), "nodes": int(keep.sum())}


set_seed(23)
x, adj, club, known = network(5)
args = TrainingArguments(
    output_dir="friends_out",
    num_train_epochs=200,
    per_device_train_batch_size=1,
    learning_rate=1e-2,
    weight_decay=5e-3,
    lr_scheduler_type="constant_with_warmup",
    warmup_steps=10,
    logging_steps=20,
    eval_strategy="steps",
    eval_steps=50,
    save_strategy="no",
    disable_tqdm=True,
    report_to="none",
)
trainer = Trainer(model=GCN(), args=args, train_dataset=OneGraph(x, adj, club, known),
                  eval_dataset=OneGraph(x, adj, club, ~known), compute_metrics=node_accuracy)
trainer.train()
print(trainer.evaluate())
