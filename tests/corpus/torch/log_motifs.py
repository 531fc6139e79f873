"""Which of four motifs does an event log contain? Packed GRU over logs of different length."""
import argparse
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

MOTIFS = [(5, 9, 2), (9, 5, 2), (7, 9, 5), (14, 3, 11)]
VOCAB = 20


class EventLogs(Dataset):
    def __init__(self, n, seed):
        r = random.Random(seed)
        self.rows = []
        for _ in range(n):
            label = r.randrange(len(MOTIFS))
            log = [r.randrange(1, VOCAB) for _ in range(r.randint(4, 24))]
            at = r.randint(0, len(log))
            log[at:at] = MOTIFS[label] * 2
            self.rows.append((torch.tensor(log), label))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(batch):
    logs, labels = zip(*batch)
    lengths, order = torch.tensor([len(log) for log in logs]).sort(descending=True)
    padded = pad_sequence([logs[i] for i in order], batch_first=True)
    return padded, lengths, torch.tensor(labels)


class LogClassifier(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, len(MOTIFS))

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.embed(x), lengths, batch_first=True)
        _, h = self.gru(packed)
        return self.head(torch.cat([h[0], h[1]], dim=1))


def run_epoch(model, loader, loss_fn, optimizer=None):
    model.train(optimizer is not None)
    total, correct, count = 0.0, 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, lengths, y in loader:
            logits = model(x, lengths)
            loss = loss_fn(logits, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            total += loss.item() * len(y)
            correct += (logits.argmax(1) == y).sum().item()
            count += len(y)
    return total / count, correct / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    train = DataLoader(EventLogs(1600, 1), batch_size=args.batch, shuffle=True, collate_fn=collate)
    test = DataLoader(EventLogs(400, 2), batch_size=args.batch, collate_fn=collate)
    model = LogClassifier(24, 48)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(1, args.epochs + 1):
        a, b = run_epoch(model, train, loss_fn, optimizer)
        c, d = run_epoch(model, test, loss_fn)
        print(f"epoch {epoch}: train {a:.3f} / {b:.3f}   test {c:.3f} / {d:.3f}")


if __name__ == "__main__":
    main()
