"""Each check against what the libraries really raise, as recorded from both library lines (see `recorder.py`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.checks.base import FAILED, walk
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

RECORDED = Path(__file__).parent / "recorded"
OWN = {"D101", "D102", "B101", "B103", "F101", "F102", "F103", "A701", "A702"}
# What the message alone cannot tell; the batch can (see test_data_columns.py and test_forward.py).
NEEDS_BATCH = {"raw_image_model", "t5_without_labels", "gpt2_long"}
# Gone in one library line, still there or differently put in another.
VARIES = {("hf-v4", "tf_class_import"): "A799", ("tf_keras-v4", "fit_generator"): "A799"}


def load(path: Path) -> dict[str, dict[str, Any]]:
    """The recorded exceptions of a file, by name."""
    return json.loads(path.read_text())["cases"]


def cases() -> list[Any]:
    found = []
    for path in sorted(RECORDED.glob("*.json")):
        for name, facts in load(path).items():
            facts["code"] = VARIES.get((path.stem, name), facts["code"])
            found.append(pytest.param(path.stem, name, facts, id=f"{path.stem}-{name}"))
    return found


def observation(group: str, facts: dict[str, Any]) -> Observation:
    facts = dict(facts)
    facts.pop("code")
    framework = {"keras": "keras", "tf_keras": "tf_keras", "tf_hf": "tf_keras"}.get(group.rsplit("-", 1)[0], "torch")
    return Observation(framework=framework, exception=msgspec.convert(facts, ExceptionFacts), stopped="exception", reached=facts["stage"])


@pytest.mark.parametrize(("group", "name", "facts"), cases())
def test_named(group: str, name: str, facts: dict[str, Any]) -> None:
    if name in NEEDS_BATCH:
        pytest.skip("the message alone does not tell")
    results = {result.code: result for result in walk(observation(group, facts))}
    assert not any((result.reason or "").startswith(FAILED) for result in results.values())
    found = {code for code, result in results.items() if result.state == "found"}
    if facts["code"] not in OWN | {"A799"}:
        assert not found & OWN  # another check's
        return
    assert found & (OWN | {"A799"}) == {facts["code"]}
    finding = results[facts["code"]].finding
    assert finding is not None
    assert finding.message
    assert finding.remedy
    assert finding.evidence
    assert finding.site is None or finding.site.line > 0
