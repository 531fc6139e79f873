"""BiLSTM tagger for recipe steps, trained with the optimizer fused into the backward pass.

Every parameter owns a small Adam that steps and frees the gradient as soon as it is complete,
so the peak memory never holds all gradients at once.
"""
from __future__ import annotations

import random
from typing import Callable

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

TAGS = ["O", "ACT", "QTY", "UNIT", "ING", "TOOL"]
LEXICON = {
    "ACT": "mix stir fold whisk chop bake fry simmer pour cream".split(),
    "QTY": "two three half four six ten".split(),
    "UNIT": "cups spoons grams pinches slices".split(),
    "ING": "flour butter sugar cream oil salt onions stock pepper oats".split(),
    "TOOL": "bowl pan oven whisk pot tray".split(),
    "O": "the in of with then until and a gently".split(),
}
PATTERNS = [
    "ACT QTY UNIT of ING in the TOOL",
    "then ACT the ING with a TOOL",
    "ACT ING and ING gently",
    "in a TOOL ACT QTY UNIT of ING",
    "ACT the ING until ING and QTY ING",
]


def sample_step(rng: random.Random) -> tuple[list[str], list[str]]:
    words, tags = [], []
    for token in rng.choice(PATTERNS).split():
        tag = token if token in LEXICON else "O"
        words.append(rng.choice(LEXICON[tag]) if token in LEXICON else token)
        tags.append(tag)
    return words, tags


class Corpus:
    def __init__(self, n: int, seed: int) -> None:
        rng = random.Random(seed)
        self.rows = [sample_step(rng) for _ in range(n)]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> tuple[list[str], list[str]]:
        return self.rows[i]


WORDS = {w: i + 1 for i, w in enumerate(sorted({w for ws in LEXICON.values() for w in ws}))}
TAG_ID = {t: i for i, t in enumerate(TAGS)}


def collate(rows):
    ids = [torch.tensor([WORDS[w] for w in words]) for words, _ in rows]
    tags = [torch.tensor([TAG_ID[t] for t in tags]) for _, tags in rows]
    lengths = torch.tensor([len(i) for i in ids])
    return pad_sequence(ids, batch_first=True), lengths, pad_sequence(tags, batch_first=True, padding_value=-100)


class Tagger(nn.Module):
    def __init__(self, n_words: int, n_tags: int, dim: int = 24, hidden: int = 32) -> None:
        super().__init__()
        self.emb = nn.Embedding(n_words + 1, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, n_tags)

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(h)


def fuse_optimizer(model: nn.Module, factory: Callable[[list[nn.Parameter]], torch.optim.Optimizer]):
    per_param = {p: factory([p]) for p in model.parameters() if p.requires_grad}

    def on_grad(param: nn.Parameter) -> None:
        per_param[param].step()
        per_param[param].zero_grad()

    handles = [p.register_post_accumulate_grad_hook(on_grad) for p in per_param]
    return per_param, handles


def train_epoch(model: nn.Module, loader: DataLoader, criterion: nn.Module) -> float:
    model.train()
    total = 0.0
    for ids, lengths, tags in loader:
        loss = criterion(model(ids, lengths).flatten(0, 1), tags.flatten())
        loss.backward()
        total += loss.item()
    return total / len(loader)


@torch.no_grad()
def token_accuracy(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    right = count = 0
    for ids, lengths, tags in loader:
        pred = model(ids, lengths).argmax(-1)
        keep = tags != -100
        right += (pred[keep] == tags[keep]).sum().item()
        count += keep.sum().item()
    return right / count


def main() -> None:
    torch.manual_seed(21)
    train = DataLoader(Corpus(800, seed=1), batch_size=16, shuffle=True, collate_fn=collate)
    valid = DataLoader(Corpus(200, seed=2), batch_size=50, collate_fn=collate)
    model = Tagger(len(WORDS), len(TAGS))
    optimizers, handles = fuse_optimizer(model, lambda ps: torch.optim.Adam(ps, lr=3e-3))
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    print(f"{len(optimizers)} fused optimizers")
    for epoch in range(1, 7):
        loss = train_epoch(model, train, criterion)
        print(f"epoch {epoch} loss {loss:.4f} token accuracy {token_accuracy(model, valid):.4f}")
    for h in handles:
        h.remove()


if __name__ == "__main__":
    main()
