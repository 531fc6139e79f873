"""Translate drill orders into step sequences with a small T5 trained from scratch."""
from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (
    EvalPrediction,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    T5Config,
    T5ForConditionalGeneration,
    set_seed,
)

VERBS = {"march": "STEP", "halt": "STOP", "salute": "SAL", "present": "PRES"}
SIDES = {"left": "LT", "right": "RT"}
COUNTS = {"once": 1, "twice": 2, "thrice": 3}


@dataclass
class Settings:
    n_train: int = 2500
    n_eval: int = 200
    epochs: int = 18
    batch_size: int = 64
    learning_rate: float = 3e-3
    seed: int = 17


@dataclass
class Vocab:
    tokens: list[str] = field(default_factory=lambda: ["<pad>", "</s>", "<unk>"])

    def __post_init__(self) -> None:
        self.tokens += [*VERBS, *SIDES, *COUNTS, "then", "after", *VERBS.values(), *SIDES.values()]
        self.index = {t: i for i, t in enumerate(self.tokens)}

    def encode(self, text: str) -> list[int]:
        return [self.index.get(t, 2) for t in text.split()] + [1]

    def decode(self, ids: list[int]) -> str:
        out = []
        for i in ids:
            if i == 1:
                break
            if i > 2:
                out.append(self.tokens[i])
        return " ".join(out)


def clause(rng: random.Random) -> tuple[str, str]:
    verb = rng.choice(list(VERBS))
    words, steps = [verb], [VERBS[verb]]
    if rng.random() < 0.6:
        side = rng.choice(list(SIDES))
        words.append(side)
        steps.insert(0, SIDES[side])
    if rng.random() < 0.6:
        count = rng.choice(list(COUNTS))
        words.append(count)
        steps = steps * COUNTS[count]
    return " ".join(words), " ".join(steps)


def order(rng: random.Random) -> tuple[str, str]:
    (a, x), (b, y) = clause(rng), clause(rng)
    if rng.random() < 0.5:
        return f"{a} then {b}", f"{x} {y}"
    return f"{a} after {b}", f"{y} {x}"


class Orders(Dataset):
    def __init__(self, n: int, vocab: Vocab, seed: int) -> None:
        rng = random.Random(seed)
        self.items = []
        for _ in range(n):
            src, tgt = order(rng)
            self.items.append({"input_ids": vocab.encode(src), "labels": vocab.encode(tgt)})

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> dict[str, list[int]]:
        return self.items[i]


@dataclass
class DrillCollator:
    model: T5ForConditionalGeneration
    pad_id: int = 0

    def _pad(self, rows: list[list[int]], value: int) -> torch.Tensor:
        width = max(map(len, rows))
        return torch.tensor([r + [value] * (width - len(r)) for r in rows])

    def __call__(self, features: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        input_ids = self._pad([f["input_ids"] for f in features], self.pad_id)
        labels = self._pad([f["labels"] for f in features], -100)
        decoder_input_ids = labels.masked_fill(labels == -100, self.pad_id)
        return {
            "input_ids": input_ids,
            "attention_mask": (input_ids != self.pad_id).long(),
            "decoder_input_ids": decoder_input_ids,
            "labels": labels,
        }


def build_metrics(vocab: Vocab):
    def compute(pred: EvalPrediction) -> dict[str, float]:
        guesses = np.where(pred.predictions < 0, 0, pred.predictions)
        labels = np.where(pred.label_ids < 0, 0, pred.label_ids)
        hits = [vocab.decode(g[1:].tolist()) == vocab.decode(t.tolist()) for g, t in zip(guesses, labels)]
        return {"exact_match": float(np.mean(hits))}

    return compute


def build_model(vocab: Vocab) -> T5ForConditionalGeneration:
    config = T5Config(
        vocab_size=len(vocab.tokens), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4,
        dropout_rate=0.0, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
    )
    return T5ForConditionalGeneration(config)


def run(cfg: Settings) -> dict[str, Any]:
    set_seed(cfg.seed)
    vocab = Vocab()
    model = build_model(vocab)
    with tempfile.TemporaryDirectory() as out:
        args = Seq2SeqTrainingArguments(
            output_dir=out, num_train_epochs=cfg.epochs, per_device_train_batch_size=cfg.batch_size,
            per_device_eval_batch_size=100, learning_rate=cfg.learning_rate, lr_scheduler_type="cosine",
            warmup_steps=30, predict_with_generate=True, generation_max_length=24, logging_steps=50,
            save_strategy="no", report_to="none", disable_tqdm=True, seed=cfg.seed,
        )
        trainer = Seq2SeqTrainer(
            model=model, args=args, train_dataset=Orders(cfg.n_train, vocab, 1),
            eval_dataset=Orders(cfg.n_eval, vocab, 2), data_collator=DrillCollator(model),
            compute_metrics=build_metrics(vocab),
        )
        trainer.train()
        return trainer.evaluate()


if __name__ == "__main__":
    result = run(Settings())
    print({k: round(v, 4) for k, v in result.items()})
