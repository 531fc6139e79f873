"""Labels of tokens that stand one place before theirs."""

from __future__ import annotations

import numpy as np
import pytest

from harness.checks.data_facts import BatchFacts
from harness.frameworks.watch import slipped
from tests.checks.made import finding, healthy, judge

FIRST, LAST, PAD, IGNORED = 1, 2, 0, -100


def rows(labelled: str, count: int = 48) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Ids, mask and labels (a word's is whether its id is even)."""
    generator = np.random.default_rng(0)
    ids, mask, labels = (np.full((count, 12), value) for value in (PAD, 0, IGNORED))
    for row in range(count):
        words = generator.integers(3, 30, generator.integers(4, 10)).tolist()
        tags = [word % 2 for word in words]
        whole = [FIRST, *words, LAST]
        placed = {"early": tags, "right": [IGNORED, *tags], "framed": [1, *tags, 1], "next": [*tags, 0]}[labelled]
        ids[row, :len(whole)], mask[row, :len(whole)], labels[row, :len(placed)] = whole, 1, placed
    return ids, mask, labels


@pytest.mark.parametrize(("labelled", "wrong"), [
    ("early", True), ("right", False),
    ("framed", None),  # the first token has a label of its own
    ("next", None)])  # what comes next is asked for, the end of the row too
def test_places(labelled: str, wrong: bool | None) -> None:
    assert slipped.before(*rows(labelled)) is wrong


def test_rows_without_a_first_token_of_their_own() -> None:
    ids, mask, labels = rows("early")
    ids[:, 0] = np.arange(len(ids)) % 5 + 3
    assert slipped.before(ids, mask, labels) is None


def test_a_language_model() -> None:
    ids, mask, _ = rows("early")
    shifted = np.where(mask == 1, np.concatenate([ids[:, 1:], ids[:, :1] * 0], axis=1), IGNORED)
    assert slipped.before(ids, mask, shifted) is None


def test_finding() -> None:
    seen = healthy()
    seen.batches = [BatchFacts(slipped=True), BatchFacts(slipped=True)]
    assert "one token before" in finding("D106", seen).message
    seen.batches = [BatchFacts(slipped=False), BatchFacts(slipped=None)]
    assert judge("D106", seen) == "no baseline was fitted on the rows"


@pytest.mark.parametrize(("first", "wrong"), [(0, True), (1, False)])
def test_pieces_of_words(first: int, wrong: bool) -> None:
    """Words of one to three pieces, of which the first has the label."""
    generator = np.random.default_rng(0)
    ids, mask, labels = (np.full((64, 24), value) for value in (PAD, 0, IGNORED))
    for row in range(64):
        pieces, tags = [], []
        for word in generator.integers(3, 15, generator.integers(4, 8)).tolist():
            more = word % 3
            pieces += [word, *(20 + word + part for part in range(more))]
            tags += [word % 2, *[IGNORED] * more]
        whole = [FIRST, *pieces, LAST]
        ids[row, :len(whole)], mask[row, :len(whole)] = whole, 1
        labels[row, first:first + len(tags)] = tags
    assert slipped.before(ids, mask, labels) is wrong
