"""Support tickets: predict the team that gets the ticket and how many minutes it stays open."""
import numpy as np
import torch
from torch import nn
from datasets import Dataset
from transformers import Trainer, TrainingArguments, EvalPrediction

rng = np.random.default_rng(3)
torch.manual_seed(3)
TEAMS = ["billing", "network", "hardware", "accounts"]
WORDS = {
    "billing": "invoice refund charge card payment twice".split(),
    "network": "wifi vpn slow router offline cable".split(),
    "hardware": "screen keyboard battery fan broken laptop".split(),
    "accounts": "password login locked reset email user".split(),
}
FILLER = "please help my the is not since yesterday again urgent hello team".split()
vocab = {w: i + 1 for i, w in enumerate(sorted(set(FILLER + sum(WORDS.values(), []))))}


def make(n):
    rows = {"input_ids": [], "team": [], "minutes": []}
    for _ in range(n):
        k = int(rng.integers(4))
        words = list(rng.choice(WORDS[TEAMS[k]], 2)) + list(rng.choice(WORDS[TEAMS[rng.integers(4)]], 1))
        words += list(rng.choice(FILLER, 5))
        rng.shuffle(words)
        base = 2880.0 if "urgent" not in words else 240.0
        rows["input_ids"].append([vocab[w] for w in words])
        rows["team"].append(k)
        rows["minutes"].append(float(base * rng.lognormal(0, 0.4)))
    return Dataset.from_dict(rows)


class TicketModel(nn.Module):
    def __init__(self, vocab_size, dim=48, n_teams=4):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.enc = nn.Sequential(nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, 32), nn.GELU())
        self.team_head = nn.Linear(32, n_teams)
        self.time_head = nn.Linear(32, 1)

    def forward(self, input_ids, team=None, minutes=None):
        h = self.enc(self.emb(input_ids).mean(1))
        team_logits = self.team_head(h)
        time = self.time_head(h).squeeze(-1)
        loss = None
        if team is not None:
            team_loss = nn.functional.cross_entropy(team_logits, team)
            time_loss = nn.functional.mse_loss(time, minutes)
            loss = team_loss + time_loss
        return {"loss": loss, "team_logits": team_logits, "time": time}


def compute_metrics(p: EvalPrediction):
    logits, time = p.predictions
    team, minutes = p.label_ids
    return {"team_acc": float((logits.argmax(-1) == team).mean()),
            "time_rmse": float(np.sqrt(((time - minutes) ** 2).mean()))}


train, test = make(3000), make(600)
args = TrainingArguments(output_dir="tickets_out", num_train_epochs=6, per_device_train_batch_size=32,
                         optim="sgd", learning_rate=0.1, lr_scheduler_type="constant", label_names=["team", "minutes"],
                         eval_strategy="epoch", logging_strategy="epoch", save_strategy="no", report_to=[],
                         use_cpu=True)
trainer = Trainer(TicketModel(len(vocab) + 1), args, train_dataset=train, eval_dataset=test,
                  compute_metrics=compute_metrics)
trainer.train()
print("majority share", np.bincount(test["team"]).max() / len(test))
print(trainer.evaluate())
