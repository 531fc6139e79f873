"""Arithmetic of bytes that runs over."""

from __future__ import annotations

import ast
import builtins
import operator
from pathlib import Path

import pytest

from harness.frameworks.watch import bytes_wrapped
from tests.frameworks.watching import HEAD, LOOP, found, watch

PICTURES = HEAD + LOOP + """
import numpy as np
rng = np.random.default_rng(0)
dark, bright = (rng.integers(low, low + 60, (8, 16, 16)).astype(np.uint8) for low in (20, 180))
MADE
"""


@pytest.mark.parametrize(("made", "sign"), [
    ("made = bright + np.uint8(90)", "+"), ("made = dark - bright", "-"), ("made = dark * 8", "*"),
    ("made = torch.tensor(bright) + 90", "+"), ("made = bright ** 2", "**"), ("made = (100 * bright.astype(np.int16)) ** 2", "**"),
    ("made = 300 * bright.astype(np.int16)", "*"), ("made = (bright.astype(np.int16) // 2) ** 2", None),
    ("made = bright.astype(np.int32) ** 2", None),
    ("made = np.repeat(bright, 2000, 0) + np.uint8(90)", "+"), ("made = bright + bright[:1]", "+"),
    ("made = np.stack([picture + np.uint8(90) for picture in bright])", "+"), ("made = dark + 90", None), ("made = bright - dark", None),
    ("made = bright.astype(np.float32) + 90", None), ("made = dark * np.uint8(2)", None), ("made = bright.astype(np.int16) - 250", None),
    ("made = bright + 0.5", None)])
def test_what_runs_over(tmp_path: Path, made: str, sign: str | None) -> None:
    seen = watch(tmp_path, PICTURES.replace("MADE", made), probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("D125" in found(seen)) is (sign is not None), seen.wraps
    if sign is not None:
        assert seen.wraps[-1].sign == sign
        assert seen.wraps[-1].dtype == ("int16" if "int16" in made else "uint8")
        assert seen.wraps[-1].site.source == made


@pytest.mark.parametrize(("text", "times"), [
    ("uint8; x = a + b - c", 2), ("uint8; x = a * (b + 1)", 2), ("uint8; x = 2 * 3", 0), ("uint8; x = a / b", 0), ("x = a + b", 0),
    ("int16; x = a ** 2 + b", 2), ("int32; x = a ** 2", 0), ("import numba\nuint8; x = a + b", 0), ("uint8; x += a", 0)])
def test_what_is_marked(text: str, times: int) -> None:
    tree = ast.parse(text)
    bytes_wrapped.mark(tree, text)
    compile(tree, "train.py", "exec")
    assert ast.unparse(tree).count("_in_watched_script__") == times


def test_what_the_script_notices(tmp_path: Path) -> None:
    """Values, errors and their lines are as they were; and nothing is left behind."""
    seen = watch(tmp_path, PICTURES.replace("MADE", """
class Odd:
    def __radd__(self, other):
        return "odd"
assert 1 + Odd() == "odd" and "a" + "b" == "ab" and [1] * 2 == [1, 1]
assert (dark - bright).dtype == np.uint8 and 0.1 + 0.2 == 0.30000000000000004
1 + "a"
"""))
    assert seen.exception is not None
    assert (seen.exception.type, seen.exception.site.source) == ("TypeError", '1 + "a"')
    assert "unsupported operand type(s) for +: 'int' and 'str'" in seen.exception.message
    assert vars(builtins)["__add_in_watched_script__"] is operator.add
