"""Speaker embeddings with a batch-hard triplet loss (PK sampling)."""
import argparse
import logging
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Sampler

logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
log = logging.getLogger("spk")

N_SPEAKERS, N_HELD_OUT, UTTS, BANDS = 80, 40, 14, 40


def synth_corpus(seed=0):
    """Average log-mel vectors: a speaker's formants plus strong channel and phonetic variation."""
    rng = np.random.default_rng(seed)
    mel = np.arange(BANDS)
    nuisance = rng.normal(0, 1, (6, BANDS))
    feats, spk = [], []
    for s in range(N_SPEAKERS + N_HELD_OUT):
        centres = np.sort(rng.uniform(3, BANDS - 3, 4))
        gains = rng.uniform(0.8, 1.6, 4)
        for _ in range(UTTS):
            c = centres + rng.normal(0, 0.35, 4)
            env = sum(g * np.exp(-0.5 * ((mel - m) / 1.8) ** 2) for g, m in zip(gains, c))
            chan = rng.normal(0, 0.9, 6) @ nuisance
            feats.append(env + chan + rng.normal(0, 0.15, BANDS))
            spk.append(s)
    return np.array(feats, np.float32), np.array(spk)


class Utterances(Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.from_numpy(x), torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class PKSampler(Sampler):
    """Batches of p speakers with k utterances each."""

    def __init__(self, labels, p, k, batches, seed=0):
        self.by = {int(s): np.flatnonzero(labels == s) for s in np.unique(labels)}
        self.p, self.k, self.batches = p, k, batches
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            chosen = self.rng.choice(list(self.by), self.p, replace=False)
            yield [int(i) for s in chosen for i in self.rng.choice(self.by[int(s)], self.k, replace=False)]


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(BANDS, 256), nn.BatchNorm1d(256), nn.ReLU(),
                                 nn.Linear(256, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def pairwise_distance(e, eps=1e-12):
    """Euclidean distances between all rows of e."""
    dot = e @ e.t()
    sq = dot.diagonal()
    d2 = (sq[:, None] - 2 * dot + sq[None, :]).clamp(min=0)
    return torch.sqrt(d2 + eps)


def batch_hard(e, labels, margin):
    dist = pairwise_distance(e)
    same = labels[:, None] == labels[None, :]
    hardest_pos = (dist * same).max(dim=1).values
    hardest_neg = dist.masked_fill(same, float("inf")).min(dim=1).values
    return F.softplus(hardest_pos - hardest_neg + margin).mean()


@torch.no_grad()
def recall_at_1(embed, x, y):
    """Nearest other utterance belongs to the same speaker."""
    e = embed(torch.from_numpy(x))
    sim = e @ e.t()
    sim.fill_diagonal_(-float("inf"))
    return (torch.from_numpy(y)[sim.argmax(1)] == torch.from_numpy(y)).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--margin", type=float, default=0.2)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(0)

    x, y = synth_corpus()
    new = y >= N_SPEAKERS
    mean, std = x[~new].mean(0), x[~new].std(0)
    x = (x - mean) / std
    train = Utterances(x[~new], y[~new])
    loader = DataLoader(train, batch_sampler=PKSampler(y[~new], p=20, k=5, batches=60))

    log.info("recall@1 of raw features on unseen speakers: %.3f",
             recall_at_1(lambda t: F.normalize(t, dim=1), x[new], y[new]))
    model = Encoder()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.8)
    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for xb, yb in loader:
            loss = batch_hard(model(xb), yb, args.margin)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        sched.step()
        model.eval()
        log.info("epoch %d loss %.4f recall@1 on unseen speakers %.3f", epoch + 1, running / len(loader),
                 recall_at_1(model, x[new], y[new]))
    os.makedirs("out", exist_ok=True)
    torch.save(model.state_dict(), "out/speaker_encoder.pt")


if __name__ == "__main__":
    main()
