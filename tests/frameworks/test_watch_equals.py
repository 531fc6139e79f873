"""Arrays that a script compares by `==`: how that is heard, and that the script notices nothing."""

from __future__ import annotations

import ast
import builtins
import operator
from pathlib import Path

import pytest

from harness.frameworks.watch import equals
from tests.frameworks.test_watch_other_classes import DATA, ONCE, ORDER, TWICE
from tests.frameworks.watching import found, watch

KERAS = DATA + """
import keras
keras.utils.set_random_seed(2)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x[:400], y_train, epochs=4, verbose=0)
scores = model.predict(x[400:], verbose=0)
"""


@pytest.mark.parametrize("line", [
    "print((scores.argmax(1) == y_test).mean())", "hits = y_test == np.argmax(scores, 1)\nprint(hits.sum() / len(hits))",
    "print(np.mean(np.argmax(scores, 1) == y_test))", "print(sum((scores.argmax(1) == y_test).tolist()))"])
@pytest.mark.parametrize(("ids", "wrong"), [(TWICE, True), (ONCE, False)])
def test_classes_by_hand(tmp_path: Path, line: str, ids: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, KERAS.replace("ORDER", ORDER).replace("IDS", ids) + line, probe_seconds=0.5)
    told = [call for call in seen.evaluation.compared if call.pairs]
    assert [sum(rows for *_, rows in call.pairs) for call in told] == [200], seen.warnings  # once, and not by its mean again
    assert ("E511" in found(seen)) is wrong
    assert not [text for text in seen.warnings if "watching failed" in text]
    assert getattr(builtins, equals.NAME) is operator.eq


@pytest.mark.parametrize(("line", "times"), [
    ("(a == b).mean()", 1), ("hits = a == b", 1), ("f(a == b, key=c == d)", 2), ("np.where(a == b, 1, 0)", 1), ("(a == b)[m]", 1),
    ("(a == b) & (c == d)", 2), ("return_ = [a == b]", 0), ("(a == 0).mean()", 0), ("x = a == -1", 0), ("f(a == b == c)", 0),
    ("if a == b:\n    pass", 0), ("assert a == b", 0), ("(a != b).mean()", 0), ("x = a if a == b else c", 0), ("mode = kind == 'train'", 0),
    ("import numba\nx = a == b", 0)])
def test_what_is_marked(line: str, times: int) -> None:
    tree = ast.parse(line)
    before = [(type(node), node.lineno) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    equals.mark(tree, line)
    compile(tree, "train.py", "exec")
    assert ast.unparse(tree).count(equals.NAME) == times
    assert [(type(node), node.lineno) for node in ast.walk(tree) if isinstance(node, ast.stmt)] == before


def test_what_the_script_notices(tmp_path: Path) -> None:
    """Values, errors and their lines are as they were."""
    text = """
import numpy as np
class Odd:
    def __eq__(self, other):
        raise LookupError("odd")
left, right = np.arange(40), np.arange(40) % 7
same = left == right
assert same.dtype == bool and same.sum() == 7
strange = Odd() == left
"""
    seen = watch(tmp_path, text)
    assert seen.exception is not None
    assert (seen.exception.type, seen.exception.message) == ("LookupError", "odd")
    assert [line for file, line, _ in seen.exception.frames if file.endswith("train.py")] == [9, 5]
    assert seen.exception.site is not None
    assert seen.exception.site.line == 5
