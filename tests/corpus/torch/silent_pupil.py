"""Distil a ticket router into a one-layer student on transfer text that nobody has labelled."""
from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from typing import Iterable

import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from transformers import (
    DistilBertConfig,
    DistilBertForSequenceClassification,
    EvalPrediction,
    PreTrainedModel,
    Trainer,
    TrainingArguments,
    set_seed,
)

DESKS = ["billing", "network", "hardware", "account", "travel", "facilities"]
KEYWORDS, SHARED, LENGTH = 8, 30, 14
UNLABELLED = -100


@dataclass(frozen=True)
class Hyper:
    teacher_epochs: int = 6
    student_epochs: int = 8
    temperature: float = 3.0
    seed: int = 27


def write_ticket(rng: random.Random) -> tuple[list[int], int]:
    desk = rng.randrange(len(DESKS))
    first = 3 + SHARED
    body = [first + desk * KEYWORDS + rng.randrange(KEYWORDS) for _ in range(2)]
    body += [first + rng.randrange(KEYWORDS * len(DESKS))]
    body += [3 + rng.randrange(SHARED) for _ in range(rng.randint(5, 9))]
    rng.shuffle(body)
    return [1, *body, 2], desk


def make_split(n: int, rng: random.Random, labelled: bool = True) -> Dataset:
    rows = []
    for _ in range(n):
        ids, desk = write_ticket(rng)
        pad = LENGTH - len(ids)
        rows.append({"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad,
                     "labels": desk if labelled else UNLABELLED})
    return Dataset.from_list(rows)


def build(layers: int, dim: int) -> DistilBertForSequenceClassification:
    return DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=3 + SHARED + KEYWORDS * len(DESKS), dim=dim, hidden_dim=2 * dim, n_layers=layers, n_heads=4,
        max_position_embeddings=LENGTH, num_labels=len(DESKS), dropout=0.05, seq_classif_dropout=0.1,
    ))


class PupilTrainer(Trainer):
    """The student follows the teacher's soft answers only; hard labels matter in evaluation alone."""

    def __init__(self, *args, teacher: PreTrainedModel, temperature: float, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.teacher = teacher.eval().requires_grad_(False)
        self.temperature = temperature

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        feed = {k: inputs[k] for k in ("input_ids", "attention_mask")}
        outputs = model(**feed)
        with torch.no_grad():
            target = self.teacher(**feed).logits
        t = self.temperature
        loss = F.kl_div(
            F.log_softmax(outputs.logits / t, dim=-1), F.log_softmax(target / t, dim=-1),
            reduction="batchmean", log_target=True,
        ) * t**2
        return (loss, outputs) if return_outputs else loss


def score(pred: EvalPrediction) -> dict[str, float]:
    return {"accuracy": float(np.mean(pred.predictions.argmax(-1) == pred.label_ids))}


def arguments(folder: str, epochs: int, lr: float) -> TrainingArguments:
    return TrainingArguments(
        output_dir=folder, num_train_epochs=epochs, learning_rate=lr, per_device_train_batch_size=32,
        per_device_eval_batch_size=128, warmup_ratio=0.1, eval_strategy="epoch", save_strategy="no",
        logging_steps=50, report_to="none", disable_tqdm=True,
    )


def report(name: str, scores: dict[str, float], keys: Iterable[str] = ("eval_loss", "eval_accuracy")) -> None:
    print(name, {k: round(scores[k], 4) for k in keys})


def main(hyper: Hyper = Hyper()) -> None:
    set_seed(hyper.seed)
    rng = random.Random(hyper.seed)
    labelled, transfer = make_split(1600, rng), make_split(2400, rng, labelled=False)
    held_out = make_split(400, rng)

    with tempfile.TemporaryDirectory() as folder:
        teacher = build(layers=3, dim=64)
        first = Trainer(model=teacher, args=arguments(folder, hyper.teacher_epochs, 1e-3), train_dataset=labelled,
                        eval_dataset=held_out, compute_metrics=score)
        first.train()
        report("teacher", first.evaluate())

        student = build(layers=1, dim=32)
        second = PupilTrainer(model=student, args=arguments(folder, hyper.student_epochs, 2e-3),
                              train_dataset=transfer, eval_dataset=held_out, compute_metrics=score,
                              teacher=teacher, temperature=hyper.temperature)
        second.train()
        report("student", second.evaluate())


if __name__ == "__main__":
    main()
