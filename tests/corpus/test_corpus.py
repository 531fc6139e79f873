"""`diagnose` on every script of the corpus: the right fault at the right line, and silence on healthy ones."""

from __future__ import annotations

import pytest

from tests.corpus import judge

pytestmark = pytest.mark.long

CASES = [case for folder in judge.folders() for case in judge.cases(folder)]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_diagnosis_is_right(case: judge.Case) -> None:
    answer, _ = judge.diagnose(case)
    if case.healthy:
        assert answer.right, f"alarm: {answer.code} at line {answer.line}, {answer.message or answer.verdict}"
        return
    assert answer.right, f"wanted {case.codes}, found {answer.code} at line {answer.line}: {answer.message or answer.verdict}"
    assert answer.right_line, f"{answer.code} at line {answer.line}, wanted {case.lines}: {answer.message}"


@pytest.mark.parametrize("folder", judge.folders(), ids=lambda folder: folder.name)
def test_every_script_has_its_expectation(folder) -> None:
    assert {case.path.stem for case in judge.cases(folder)} == {path.stem for path in folder.glob("*.py")} - {"__init__"}
