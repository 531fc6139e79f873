"""Where the parts of a call are written."""

from __future__ import annotations

import sys
import weakref
from pathlib import Path

import pytest

from harness.frameworks.watch.sites import keywords, names_of

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


HELD = """
@dataclass
class Experiment:
    training: dict = field(default_factory=lambda: dict(
        learning_rate=1e-3,
        warmup_steps=2000))
CONFIG = {
    "stop": {
        "patience": 3}}
class Run:
    def __init__(self):
        self.rates = {"decay": 0.1,
                      "momentum": 0.9}
    def start(self, exp):
        call(**exp.training, **CONFIG["stop"], **self.rates, **self.others, **CONFIG[self.name])
"""


@pytest.mark.parametrize(("name", "line"), [("warmup_steps", 6), ("patience", 9), ("momentum", 13), ("others", None)])
def test_dictionaries_of_classes_objects_and_others(tmp_path: Path, name: str, line: int | None) -> None:
    path = tmp_path / "script.py"
    path.write_text(HELD)
    found = keywords((str(path), 15, "start")).get(name)
    assert (found[1] if found else None) == line


def test_names_of_a_frame_hold_on_to_nothing() -> None:
    """What a function lets go of is gone, although its names were looked at before."""
    class Held:
        pass

    def step() -> bool:
        held = Held()
        gone = weakref.ref(held)
        assert names_of(sys._getframe())["held"] is held
        del held
        return gone() is None

    assert step()
