"""What is executed for the pages, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.catalog import load
from harness.checks.base import Result
from harness.diagnosis.record import Diagnosis
from harness.notebooks import store
from harness.runs.execute import prepare
from harness.site import executed


def test_a_kept_diagnosis_that_is_not_the_wanted_one_is_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    bug = load.find("bug08")
    job, name = prepare(bug, "broken", framework="torch"), "bug08 diagnosis (torch)"
    other = Result(code="R603", stage="resources", title="Native code crashes", state="found")
    record = Diagnosis(script="bug08", framework="torch", versions={}, verdict="found", first=other, more=[], walk=[], checks=[], losses=[],
                       reached="step", stopped="ended by SIGSEGV", seconds=1.0)
    store.save_diagnosis(job, record)
    assert name in [work.name for work in executed.missing(bug, "torch")]
    wanted = bug.script("torch").check
    assert wanted
    store.save_diagnosis(job, msgspec.structs.replace(record, first=msgspec.structs.replace(other, code=wanted)))
    assert name not in [work.name for work in executed.missing(bug, "torch")]
