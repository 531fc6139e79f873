"""Predict the hyphenation points of words, with gradients normalised once per update by the token count."""
from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import islice
from typing import Iterator

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

ONSETS = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "st", "tr", "pl", "kr", "gl"]
NUCLEI = ["a", "e", "i", "o", "u", "ai", "ou"]
CODAS = ["", "", "", "n", "r", "s", "l", "m"]
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@dataclass
class Options:
    seed: int = 9
    words: int = 2500
    held_out: int = 400
    micro_batch: int = 16
    micro_per_update: int = 4
    epochs: int = 8
    lr: float = 4e-3
    embed: int = 16
    hidden: int = 48
    clip: float = 1.0


Row = tuple[torch.Tensor, torch.Tensor]


def make_word(rng: random.Random) -> Row:
    chars, marks = "", []
    for i in range(rng.randint(2, 5)):
        syllable = rng.choice(ONSETS) + rng.choice(NUCLEI) + rng.choice(CODAS)
        marks += [1.0 if i > 0 else 0.0] + [0.0] * (len(syllable) - 1)
        chars += syllable
    return torch.tensor([ALPHABET.index(c) + 1 for c in chars]), torch.tensor(marks)


def collate(rows: list[Row]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    lengths = torch.tensor([len(ids) for ids, _ in rows])
    ids = pad_sequence([r[0] for r in rows], batch_first=True)
    marks = pad_sequence([r[1] for r in rows], batch_first=True)
    return ids, marks, lengths


class Hyphenator(nn.Module):
    def __init__(self, opts: Options) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(ALPHABET) + 1, opts.embed, padding_idx=0)
        self.rnn = nn.LSTM(opts.embed, opts.hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * opts.hidden, 1)

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(self.embed(ids), lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(hidden).squeeze(-1)


def micro_batches(rows: list[Row], opts: Options, rng: random.Random) -> Iterator[list[Row]]:
    pools = list(rows)
    rng.shuffle(pools)
    pools.sort(key=lambda r: len(r[0]) + rng.random() * 3)
    chunks = [pools[i : i + opts.micro_batch] for i in range(0, len(pools), opts.micro_batch)]
    rng.shuffle(chunks)
    yield from chunks


class Session:
    def __init__(self, opts: Options) -> None:
        torch.manual_seed(opts.seed)
        self.opts = opts
        self.rng = random.Random(opts.seed)
        self.model = Hyphenator(opts)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=opts.lr)
        self.loss = nn.BCEWithLogitsLoss(reduction="none")

    def summed_loss(self, rows: list[Row]) -> tuple[torch.Tensor, int]:
        ids, marks, lengths = collate(rows)
        mask = ids != 0
        per_char = self.loss(self.model(ids, lengths), marks)
        return (per_char * mask).sum(), int(mask.sum())

    def update(self, group: list[list[Row]]) -> tuple[float, int]:
        total, count = 0.0, 0
        for rows in group:
            loss, n = self.summed_loss(rows)
            loss.backward()
            total, count = total + loss.item(), count + n
        for p in self.model.parameters():
            if p.grad is not None:
                p.grad.div_(count)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.opts.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return total, count

    def train_epoch(self, rows: list[Row]) -> float:
        self.model.train()
        stream = micro_batches(rows, self.opts, self.rng)
        total, count = 0.0, 0
        while group := list(islice(stream, self.opts.micro_per_update)):
            t, c = self.update(group)
            total, count = total + t, count + c
        return total / count

    @torch.no_grad()
    def evaluate(self, rows: list[Row]) -> dict[str, float]:
        self.model.eval()
        ids, marks, lengths = collate(rows)
        mask = ids != 0
        pred = (self.model(ids, lengths) > 0) & mask
        gold = marks.bool()
        tp = (pred & gold).sum().item()
        precision, recall = tp / max(int(pred.sum()), 1), tp / int(gold.sum())
        whole = ((pred == gold) | ~mask).all(1).float().mean().item()
        return {"f1": 2 * precision * recall / max(precision + recall, 1e-9), "whole_word": whole}


def main() -> None:
    opts = Options()
    session = Session(opts)
    rows = [make_word(session.rng) for _ in range(opts.words)]
    held, rows = rows[: opts.held_out], rows[opts.held_out :]
    for epoch in range(opts.epochs):
        loss = session.train_epoch(rows)
        report = session.evaluate(held)
        print(f"epoch {epoch + 1}: loss per char {loss:.4f}, f1 {report['f1']:.3f}, whole words {report['whole_word']:.3f}")


if __name__ == "__main__":
    main()
