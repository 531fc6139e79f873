"""Who walks past? Identifies a walker from footstep packets with a small transformer."""
import argparse
import logging
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

log = logging.getLogger("footsteps")


def synth_walk(rng, person, n_people):
    """One packet per step: gap to the last step, force of heel and toe, roll, side."""
    base = np.random.default_rng(500 + person)
    gap, heel, toe, limp = base.uniform(0.4, 0.7), base.uniform(0.6, 1.4), base.uniform(0.5, 1.2), base.uniform(-0.3, 0.3)
    steps = int(rng.integers(6, 24))
    side = np.where((np.arange(steps) + rng.integers(2)) % 2 == 0, 1.0, -1.0)
    speed = rng.normal(1.0, 0.08)
    rows = np.stack([
        gap / speed + limp * 0.3 * side + rng.normal(0, 0.05, steps),
        heel * speed + limp * side + rng.normal(0, 0.15, steps),
        toe * speed + rng.normal(0, 0.15, steps),
        rng.normal(0, 0.3, steps),
        side], axis=1)
    return rows.astype(np.float32)


class Walks(torch.utils.data.Dataset):
    def __init__(self, rows, n_people, seed):
        rng = np.random.default_rng(seed)
        self.people = rng.integers(0, n_people, rows)
        self.walks = [synth_walk(rng, int(p), n_people) for p in self.people]

    def __len__(self):
        return len(self.walks)

    def __getitem__(self, i):
        return torch.from_numpy(self.walks[i]), int(self.people[i])


def collate(batch):
    """Time-major batch (steps, rows, channels) and a (rows, steps) mask of the padding."""
    walks, people = zip(*batch)
    lengths = torch.tensor([len(w) for w in walks])
    x = nn.utils.rnn.pad_sequence(walks)
    pad = torch.arange(x.shape[0])[None, :] >= lengths[:, None]
    return x, pad, torch.tensor(people)


class Positions(nn.Module):
    def __init__(self, d, max_len=64):
        super().__init__()
        t = torch.arange(max_len).unsqueeze(1)
        freq = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        table = torch.zeros(max_len, 1, d)
        table[:, 0, 0::2] = torch.sin(t * freq)
        table[:, 0, 1::2] = torch.cos(t * freq)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[:x.size(0)]


class WalkerNet(nn.Module):
    def __init__(self, channels, n_people, d=48, heads=4, layers=2, dropout=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.inp = nn.Linear(channels, d)
        self.positions = Positions(d)
        layer = nn.TransformerEncoderLayer(d, heads, 2 * d, dropout)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(d, n_people)

    def forward(self, x, pad):
        h = self.positions(self.norm(self.inp(x)))
        h = self.encoder(h, src_key_padding_mask=pad)
        keep = (~pad).t().unsqueeze(-1).float()
        pooled = (h * keep).sum(0) / keep.sum(0)
        return self.head(pooled)


def evaluate(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for x, pad, people in loader:
            right += (model(x, pad).argmax(-1) == people).sum().item()
            total += len(people)
    return right / total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=60)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    torch.manual_seed(40)

    loaders = [torch.utils.data.DataLoader(Walks(n, args.people, seed), batch_size=48, shuffle=seed == 1, collate_fn=collate)
               for n, seed in ((1900, 1), (400, 2))]
    train_loader, val_loader = loaders
    model = WalkerNet(5, args.people)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    total_steps = args.epochs * len(train_loader)

    def shape(step):
        if step < args.warmup:
            return (step + 1) / args.warmup
        return 0.5 * (1 + math.cos(math.pi * (step - args.warmup) / (total_steps - args.warmup)))

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, shape)
    for epoch in range(args.epochs):
        model.train()
        losses = []
        for x, pad, people in train_loader:
            loss = F.cross_entropy(model(x, pad), people)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        log.info("epoch %d loss %.3f val acc %.3f", epoch + 1, np.mean(losses), evaluate(model, val_loader))


if __name__ == "__main__":
    main()
