"""Writes out knitting shorthand: `k2 p3 yo1` becomes `k k p p p yo`."""
import argparse
import logging
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

log = logging.getLogger("stitches")
PAD, BOS, EOS = 0, 1, 2
STITCHES = ["k", "p", "yo", "sl", "ssk"]
SRC = {s: i for i, s in enumerate(["<pad>"] + STITCHES + list("1234"))}
TGT = {s: i for i, s in enumerate(["<pad>", "<s>", "</s>"] + STITCHES)}


def make_pair(rng):
    src, tgt, last = [], [], None
    for _ in range(rng.randint(2, 5)):
        stitch = rng.choice([s for s in STITCHES if s != last])
        last = stitch
        times = rng.randint(1, 4)
        src += [SRC[stitch], SRC[str(times)]]
        tgt += [TGT[stitch]] * times
    return torch.tensor(src), torch.tensor([BOS] + tgt + [EOS])


class Patterns(Dataset):
    def __init__(self, rows, seed):
        rng = random.Random(seed)
        self.pairs = [make_pair(rng) for _ in range(rows)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


def collate(batch):
    src, tgt = zip(*batch)
    return (pad_sequence(src, batch_first=True, padding_value=PAD),
            pad_sequence(tgt, batch_first=True, padding_value=PAD))


class Seq2Seq(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.src_emb = nn.Embedding(len(SRC), d, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(len(TGT), d, padding_idx=PAD)
        self.encoder = nn.GRU(d, d, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * d, d)
        self.decoder = nn.GRU(d, d, batch_first=True)
        self.query = nn.Linear(d, 2 * d)
        self.out = nn.Sequential(nn.Linear(3 * d, d), nn.Tanh(), nn.Linear(d, len(TGT)))

    def encode(self, src):
        lengths = (src != PAD).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.src_emb(src), lengths.cpu(), batch_first=True, enforce_sorted=False)
        memory, state = self.encoder(packed)
        memory, _ = nn.utils.rnn.pad_packed_sequence(memory, batch_first=True)
        state = torch.tanh(self.bridge(torch.cat([state[0], state[1]], dim=-1)))
        return memory, src != PAD, state.unsqueeze(0)

    def decode(self, tokens, state, memory, mask):
        h, state = self.decoder(self.tgt_emb(tokens), state)
        scores = self.query(h) @ memory.transpose(1, 2) / memory.shape[-1] ** 0.5
        scores = scores.masked_fill(~mask[:, None, :], float("-inf"))
        context = scores.softmax(-1) @ memory
        return self.out(torch.cat([h, context], dim=-1)), state

    def forward(self, src, tgt):
        memory, mask, state = self.encode(src)
        logits, _ = self.decode(tgt, state, memory, mask)
        return logits

    @torch.no_grad()
    def greedy(self, src, max_len=24):
        memory, mask, state = self.encode(src)
        token = torch.full((len(src), 1), BOS)
        done = torch.zeros(len(src), dtype=torch.bool)
        rows = []
        for _ in range(max_len):
            logits, state = self.decode(token, state, memory, mask)
            token = logits[:, -1:].argmax(-1)
            rows.append(token.squeeze(1).masked_fill(done, PAD))
            done |= token.squeeze(1) == EOS
            if done.all():
                break
        return torch.stack(rows, dim=1)


def batch_loss(model, src, tgt):
    targets = tgt[:, 1:]
    logits = model(src, targets)
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=PAD)


def exact_match(model, loader):
    model.eval()
    hits = total = 0
    for src, tgt in loader:
        written = model.greedy(src)
        gold = tgt[:, 1:]
        width = max(written.shape[1], gold.shape[1])
        written = F.pad(written, (0, width - written.shape[1]))
        gold = F.pad(gold, (0, width - gold.shape[1]))
        hits += (written == gold).all(1).sum().item()
        total += len(src)
    return hits / total


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--dim", type=int, default=64)
    p.add_argument("--lr", type=float, default=2.5e-3)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(13)

    train_loader = DataLoader(Patterns(3000, 1), batch_size=64, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(Patterns(300, 2), batch_size=100, collate_fn=collate)
    model = Seq2Seq(args.dim)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for src, tgt in train_loader:
            loss = batch_loss(model, src, tgt)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        log.info("epoch %d loss %.4f exact match %.3f", epoch + 1, total / len(train_loader),
                 exact_match(model, test_loader))


if __name__ == "__main__":
    main()
