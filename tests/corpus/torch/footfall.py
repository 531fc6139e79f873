"""Classify the kind of day (weekday, weekend, market, holiday) from a door counter's readings."""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, Dataset, Sampler


def simulate(n, rng):
    days = []
    for _ in range(n):
        kind = int(rng.integers(4))
        length = int(rng.integers(20, 61))
        t = np.linspace(0, 1, length)
        peaks = [(0.25, 0.8), (0.5,), (0.2,), (0.75,)][kind]
        base = sum(np.exp(-((t - p) ** 2) / 0.008) for p in peaks)
        counts = base * rng.uniform(0.7, 1.3) + rng.normal(0, 0.15, length)
        days.append((counts.astype("float32"), kind))
    return days


class DayCounts(Dataset):
    def __init__(self, days):
        self.days = days

    def __len__(self):
        return len(self.days)

    def __getitem__(self, i):
        counts, kind = self.days[i]
        return torch.from_numpy(counts).unsqueeze(-1), kind


class BucketSampler(Sampler):
    """Batches of days that are about equally long."""

    def __init__(self, days, batch_size, width=5):
        self.batch_size = batch_size
        self.keys = [len(c) // width for c, _ in days]

    def __iter__(self):
        order = list(range(len(self.keys)))
        random.shuffle(order)
        order.sort(key=lambda i: self.keys[i])
        batches = [order[i:i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        random.shuffle(batches)
        return iter(batches)

    def __len__(self):
        return (len(self.keys) + self.batch_size - 1) // self.batch_size


def collate_days(items):
    seqs = torch.stack([s for s, _ in items])
    lengths = torch.tensor([len(s) for s, _ in items])
    kinds = torch.tensor([k for _, k in items])
    return seqs, lengths, kinds


class DayNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, 4)

    def forward(self, seqs, lengths):
        packed = pack_padded_sequence(seqs, lengths, batch_first=True, enforce_sorted=False)
        _, state = self.gru(packed)
        return self.head(torch.cat([state[0], state[1]], dim=-1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    random.seed(11)
    torch.manual_seed(11)
    rng = np.random.default_rng(11)
    train_days, test_days = simulate(800, rng), simulate(200, rng)
    train = DataLoader(DayCounts(train_days), batch_sampler=BucketSampler(train_days, 32), collate_fn=collate_days)
    test = DataLoader(DayCounts(test_days), batch_sampler=BucketSampler(test_days, 32), collate_fn=collate_days)
    net = DayNet(args.hidden)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        net.train()
        losses = []
        for seqs, lengths, kinds in train:
            opt.zero_grad()
            loss = loss_fn(net(seqs, lengths), kinds)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            losses.append(loss.item())
        net.eval()
        with torch.no_grad():
            right = sum((net(s, n).argmax(1) == k).sum().item() for s, n, k in test)
        print(f"{epoch:2d} loss {np.mean(losses):.3f} acc {right / len(test_days):.3f}")


if __name__ == "__main__":
    main()
