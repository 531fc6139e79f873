"""Where the parts of a call are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch.sites import keywords

SCRIPT = """
RECIPE = dict(
    warmup_steps=4000,
    learning_rate=1e-3,
)
OTHER = {"seed": 1,
         "epochs": 3}
twice = {"a": 1}
twice = {"a": 2}
made = read()
call(
    **{"inner": 1},
    **RECIPE,
    learning_rate=2,
    **OTHER, **twice, **made, **vars(args))
"""


@pytest.mark.parametrize(("name", "line"), [
    ("warmup_steps", 3), ("learning_rate", 14), ("seed", 6), ("epochs", 7), ("inner", 12), ("a", None), ("b", None)])
def test_keywords_that_a_dictionary_hands_over(tmp_path: Path, name: str, line: int | None) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    found = keywords((str(path), 11, "<module>")).get(name)
    assert (found[1] if found else None) == line
