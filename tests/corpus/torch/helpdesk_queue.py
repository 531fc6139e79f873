import random
import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(7)

FILLER = ("please hello since yesterday the my our office floor again still thanks regards "
          "monday today it is not working when i try to and but").split()
TOPIC = {
    "network": "wifi router vpn cable firewall".split(),
    "printing": "printer toner paper tray scanner".split(),
    "accounts": "password login badge locked reset".split(),
    "software": "excel update licence installer crash".split(),
}
QUEUES = list(TOPIC)
VOCAB = ["<pad>", "<unk>"] + sorted(set(FILLER + sum(TOPIC.values(), [])))
STOI = {w: i for i, w in enumerate(VOCAB)}
MAX_LEN = 100


def write_ticket():
    q = random.randrange(len(QUEUES))
    n = random.randint(6, 18)
    words = [random.choice(FILLER) for _ in range(n)]
    for pos in random.sample(range(n), 2):
        words[pos] = random.choice(TOPIC[QUEUES[q]])
    return " ".join(words), q


class Tickets(torch.utils.data.Dataset):
    def __init__(self, n):
        self.rows = [write_ticket() for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, q = self.rows[i]
        return {"ids": [STOI.get(w, 1) for w in text.split()], "labels": q}


class Collate:
    def __init__(self, max_len, pad_id=0):
        self.max_len, self.pad_id = max_len, pad_id

    def __call__(self, feats):
        rows = []
        for f in feats:
            ids = f["ids"][: self.max_len]
            pad = [self.pad_id] * (self.max_len - len(ids))
            rows.append(ids + pad)
        return {"input_ids": torch.tensor(rows), "labels": torch.tensor([f["labels"] for f in feats])}


class TicketReader(nn.Module):
    def __init__(self, vocab, dim=48, hidden=64, n_out=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_out)

    def forward(self, input_ids, labels=None):
        states, _ = self.rnn(self.emb(input_ids))
        logits = self.out(states[:, -1])
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


if __name__ == "__main__":
    train, test = Tickets(2400), Tickets(500)
    args = TrainingArguments(
        output_dir="out", num_train_epochs=5, learning_rate=3e-3,
        per_device_train_batch_size=32, per_device_eval_batch_size=100,
        eval_strategy="epoch", logging_steps=75, save_strategy="no",
        report_to=[], use_cpu=True, disable_tqdm=True, remove_unused_columns=False,
        label_names=["labels"],
    )
    trainer = Trainer(
        model=TicketReader(len(VOCAB)), args=args, train_dataset=train, eval_dataset=test,
        data_collator=Collate(MAX_LEN), compute_metrics=metrics,
    )
    trainer.train()
    print(trainer.evaluate())
