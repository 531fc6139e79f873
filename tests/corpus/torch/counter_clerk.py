"""A tiny GPT-2 answers stock questions at a hardware counter; only the answer's tokens are scored."""
from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import logging

logging.set_verbosity_error()

ITEMS = ["hinge", "bolt", "hook", "bracket", "latch", "washer", "rivet", "dowel"]
SIZES = ["small", "medium", "large"]
METALS = ["brass", "steel", "zinc"]
OPENERS = [
    "good morning do you have a {s} {m} {i} please",
    "i am looking for a {i} in {m} size {s}",
    "{s} {i} {m} where is it",
    "my neighbour told me that you sell the {m} {i} i need a {s} one",
    "where can i find one {s} {i} made of {m} today",
]


@dataclass
class Setup:
    seed: int = 12
    train_rows: int = 1600
    test_rows: int = 200
    batch: int = 32
    epochs: int = 8
    lr: float = 3e-3
    width: int = 64
    layers: int = 2


class Vocab:
    def __init__(self, texts: list[str]) -> None:
        words = sorted({w for t in texts for w in t.split()})
        self.words = ["<end>", "<answer>"] + words
        self.index = {w: i for i, w in enumerate(self.words)}

    def encode(self, text: str) -> list[int]:
        return [self.index[w] for w in text.split()]

    def decode(self, ids: list[int]) -> str:
        return " ".join(self.words[i] for i in ids)


def make_rows(setup: Setup) -> list[tuple[str, str]]:
    rng = random.Random(setup.seed)
    aisle = {i: rng.choice("ABCDEF") for i in ITEMS}
    shelf = {(m, s): str(rng.randint(1, 9)) for m in METALS for s in SIZES}
    rows = []
    for _ in range(setup.train_rows + setup.test_rows):
        i, s, m = rng.choice(ITEMS), rng.choice(SIZES), rng.choice(METALS)
        rows.append((rng.choice(OPENERS).format(i=i, s=s, m=m), f"aisle {aisle[i]} shelf {shelf[m, s]}"))
    return rows


class Batcher:
    def __init__(self, vocab: Vocab) -> None:
        self.vocab, self.end = vocab, vocab.index["<end>"]

    def __call__(self, rows: list[tuple[str, str]]) -> dict[str, torch.Tensor]:
        full, lab = [], []
        for question, answer in rows:
            q = self.vocab.encode(question) + [self.vocab.index["<answer>"]]
            a = self.vocab.encode(answer) + [self.end]
            full.append(q + a)
            lab.append([-100] * len(q) + a)
        width = max(map(len, full))
        ids = torch.tensor([[self.end] * (width - len(r)) + r for r in full])
        labels = torch.tensor([[-100] * (width - len(r)) + r for r in lab])
        mask = torch.tensor([[0] * (width - len(r)) + [1] * len(r) for r in full])
        return {"input_ids": ids, "attention_mask": mask, "position_ids": positions(mask), "labels": labels}


def positions(mask: torch.Tensor) -> torch.Tensor:
    return (mask.cumsum(-1) - 1).clamp(min=0)


@torch.no_grad()
def exact_match(model: GPT2LMHeadModel, vocab: Vocab, rows: list[tuple[str, str]]) -> float:
    model.eval()
    end = vocab.index["<end>"]
    prompts = [vocab.encode(q) + [vocab.index["<answer>"]] for q, _ in rows]
    width = max(map(len, prompts))
    ids = torch.tensor([[end] * (width - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
    out = model.generate(input_ids=ids, attention_mask=mask, max_new_tokens=5, do_sample=False,
                         pad_token_id=end, eos_token_id=end)
    right = 0
    for reply, (_, gold) in zip(out[:, width:].tolist(), rows):
        text = vocab.decode(reply[: reply.index(end)] if end in reply else reply)
        right += text == gold
    model.train()
    return right / len(rows)


def main() -> None:
    setup = Setup()
    torch.manual_seed(setup.seed)
    rows = make_rows(setup)
    vocab = Vocab([t for r in rows for t in r])
    train, test = rows[: setup.train_rows], rows[setup.train_rows :]
    end = vocab.index["<end>"]
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(vocab.words), n_positions=40, n_embd=setup.width, n_layer=setup.layers, n_head=4,
        bos_token_id=end, eos_token_id=end, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    loader = DataLoader(train, batch_size=setup.batch, shuffle=True, collate_fn=Batcher(vocab))
    opt = torch.optim.AdamW(model.parameters(), lr=setup.lr, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, setup.lr, total_steps=setup.epochs * len(loader), pct_start=0.1)
    for epoch in range(setup.epochs):
        total = 0.0
        for batch in loader:
            loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            opt.zero_grad()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f} exact {exact_match(model, vocab, test):.3f}")


if __name__ == "__main__":
    main()
