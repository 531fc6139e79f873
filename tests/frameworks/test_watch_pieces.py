"""Labels of words on pieces of words."""

from __future__ import annotations

import numpy as np
import pytest

from harness.checks import pairing
from harness.checks.data_facts import BatchFacts
from harness.checks.observation import Observation
from harness.frameworks.watch import pieces

SPECIAL = {"[CLS]", "[SEP]", "[PAD]"}
WORDPIECE = ["[CLS]", "met", "an", "##na", "in", "par", "##is", "today", "[SEP]", "[PAD]"]
SENTENCEPIECE = ["[CLS]", "▁met", "▁an", "na", "▁in", "▁par", "is", "▁today", "[SEP]", "[PAD]"]


def marks(*places: int) -> np.ndarray:
    found = np.zeros((1, 10), dtype=bool)
    found[0, list(places)] = True
    return found


@pytest.mark.parametrize("tokens", [WORDPIECE, SENTENCEPIECE])
@pytest.mark.parametrize(("places", "counted", "wrong"), [
    ((1, 2, 3, 4, 5), 1, 1), ((1, 2, 4, 5, 7), 1, 0), ((1, 2, 3, 4, 5, 6, 7), 0, 0), ((1, 3, 4, 6, 7), 1, 0), ((2, 5), 0, 0),
    ((0, 1, 2, 3, 4), 1, 1), ((0, 1, 2, 3, 4, 5, 6, 7, 8), 0, 0)],
    ids=["one after the other", "the first piece", "every piece", "the last piece", "some words", "from the first token on", "every token"])
def test_on_which_piece(tokens: list[str], places: tuple[int, ...], counted: int, wrong: int) -> None:
    assert pieces.astray([tokens], marks(*places), SPECIAL) == (counted, wrong)


def test_whole_words_tell_nothing() -> None:
    assert pieces.astray([["[CLS]", "met", "anna", "today", "[SEP]"]], marks(1, 2, 3), SPECIAL) == (0, 0)


@pytest.mark.parametrize(("astray", "wrong"), [(20, True), (2, False), (0, False)])
def test_what_is_said(astray: int, *, wrong: bool) -> None:
    finding = pairing.finding(Observation(batches=[BatchFacts(pieced_rows=24, pieced_astray=astray)]))
    assert (finding is not None) is wrong
    if finding is not None:
        assert "word_ids" in finding.remedy
