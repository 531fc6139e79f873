"""Route short support tickets to one of six desks with a small GRU (HF Trainer)."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

DESKS = ["billing", "login", "shipping", "returns", "hardware", "network"]
VOCAB = 400
PAD = 0


def make_tickets(n, rng):
    """Each desk has a handful of tell-tale words; the rest of a ticket is small talk."""
    telltale = {d: np.arange(10 + 12 * d, 10 + 12 * (d + 1)) for d in range(len(DESKS))}
    small_talk = np.arange(100, VOCAB)
    zipf = 1.0 / np.arange(1, len(small_talk) + 1)
    zipf /= zipf.sum()
    tickets, labels = [], []
    for _ in range(n):
        desk = rng.integers(len(DESKS))
        length = int(np.clip(rng.lognormal(2.4, 0.6), 4, 90))
        words = rng.choice(small_talk, size=length, p=zipf)
        hot = rng.random(length) < 0.30
        hot[rng.integers(length)] = True
        words[hot] = rng.choice(telltale[desk], size=hot.sum())
        # now and then a word that belongs to some other desk
        if length > 6 and rng.random() < 0.4:
            words[rng.integers(length)] = rng.choice(telltale[rng.integers(len(DESKS))])
        tickets.append(words.tolist())
        labels.append(int(desk))
    return tickets, labels


class TicketDataset(Dataset):
    def __init__(self, tickets, labels, max_len=96):
        self.ids = torch.full((len(tickets), max_len), PAD, dtype=torch.long)
        self.lengths = torch.zeros(len(tickets), dtype=torch.long)
        for i, words in enumerate(tickets):
            words = words[:max_len]
            self.ids[i, : len(words)] = torch.tensor(words)
            self.lengths[i] = len(words)
        self.labels = torch.tensor(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "lengths": self.lengths[i], "labels": self.labels[i]}


class GRURouter(nn.Module):
    def __init__(self, n_classes, emb=32, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(hidden, n_classes)

    def forward(self, input_ids, lengths, labels=None):
        states, _ = self.rnn(self.embed(input_ids))
        summary = states[torch.arange(len(states)), lengths - 1]
        logits = self.head(self.drop(summary))
        out = {"logits": logits}
        if labels is not None:
            out["loss"] = nn.functional.cross_entropy(logits, labels)
        return out


def compute_metrics(eval_pred):
    preds = eval_pred.predictions.argmax(-1)
    return {"accuracy": float((preds == eval_pred.label_ids).mean())}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=float, default=5)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()

    set_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    train_ds = TicketDataset(*make_tickets(2400, rng))
    test_ds = TicketDataset(*make_tickets(800, rng))

    trainer = Trainer(
        model=GRURouter(len(DESKS)),
        args=TrainingArguments(
            output_dir="out/ticket_routing",
            num_train_epochs=args.epochs,
            learning_rate=args.lr,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=200,
            eval_strategy="epoch",
            logging_strategy="epoch",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            seed=args.seed,
        ),
        train_dataset=train_ds,
        eval_dataset=test_ds,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    acc = trainer.evaluate()["eval_accuracy"]
    majority = torch.bincount(test_ds.labels).max().item() / len(test_ds)
    print(f"test accuracy {acc:.3f}   (majority desk {majority:.3f})")


if __name__ == "__main__":
    main()
