"""Functions given to `Dataset.map` that mix rows up, and those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks import pairing
from harness.frameworks.watch import maps
from tests.frameworks.watching import watch

pytest.importorskip("torch")
pytest.importorskip("datasets")

CHOICES = """
import random
import torch, torch.nn as nn, torch.nn.functional as F
from datasets import Dataset
rng = random.Random(0)
torch.manual_seed(0)
rows = [{"story": [k] * 3, "ends": [[rng.randrange(9)] for _ in range(4)], "label": rng.randrange(4)} for k in range(160)]
def regroup(batch):
    BODY
data = Dataset.from_list(rows).map(regroup, batched=True).with_format("torch")
model = nn.Linear(16, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
for at in list(range(0, 160, 8)) * 2:
    part = data[at:at + 8]
    loss = F.cross_entropy(model(part["ids"].float()).squeeze(-1), part["label"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
COLUMN = """flat = [batch["ends"][row][choice] for choice in range(4) for row in range(len(batch["ends"]))]
    ids = [story + flat[4 * row + choice] + [0] * 12 for row, story in enumerate(batch["story"]) for choice in range(4)]
    return {"ids": [ids[at:at + 4] for at in range(0, len(ids), 4)]}"""
_ROWS = 'for row in range(len(batch["ends"]))'
ROW = COLUMN.replace(f"for choice in range(4) {_ROWS}", f"{_ROWS} for choice in range(4)")
RANDOM = ROW.replace("[0] * 12", "[rng.randrange(5)] * 12")


@pytest.mark.parametrize(("body", "mixed"), [(COLUMN, True), (ROW, False), (RANDOM, False)])
def test_choices_that_are_regrouped(tmp_path: Path, body: str, *, mixed: bool) -> None:
    text = CHOICES.replace("BODY", body)
    seen = watch(tmp_path, text)
    found = pairing.finding(seen)
    assert (found is not None) == mixed
    if found is not None:
        assert found.site is not None
        assert found.site.source == "def regroup(batch):"


def portions(rows: dict[str, list[list[int]]], labels_reversed: bool) -> dict[str, list[list[int]]]:
    """The rows of a language model: all texts one after the other, cut into eights."""
    whole = {name: [part for row in values for part in row] for name, values in rows.items()}
    cut = {name: [stream[at:at + 8] for at in range(0, len(stream) // 8 * 8, 8)] for name, stream in whole.items()}
    return cut | {"labels": cut["input_ids"][::-1] if labels_reversed else cut["input_ids"].copy()}


@pytest.mark.parametrize("labels_reversed", [True, False])
def test_a_stream_that_is_cut_anew(*, labels_reversed: bool) -> None:
    rows = {"input_ids": [[10 * row + part for part in range(7 + 2 * (row % 2))] for row in range(12)],
            "attention_mask": [[1] * (7 + 2 * (row % 2)) for row in range(12)]}
    assert maps._mixes(lambda given: portions(given, labels_reversed), rows) is labels_reversed
