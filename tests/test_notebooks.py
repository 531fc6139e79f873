"""Notebooks of the specimens: made of the scripts, executed for real, judged by the evidence, kept by content."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from harness import script
from harness.catalog.load import everything, find
from harness.cli import main
from harness.errors import SiteError
from harness.notebooks import build, execute, store
from harness.paths import ROOT
from harness.process.pool import open_pool
from harness.runs import availability
from harness.runs.execute import prepare
from harness.site import executed, exercise
from harness.site.text import LANGUAGES

SCRIPTS = [(bug.id, framework) for bug in everything() for framework in bug.frameworks]
needs_torch = pytest.mark.skipif(availability.obstacle(find("bug05").script("torch")) is not None, reason="PyTorch is not here")


@pytest.fixture(scope="module")
def bug05():
    """bug05 broken and fixed, executed."""
    jobs = [prepare(find("bug05"), variant, framework="torch", pairs=("num_labels=2", "steps=5")) for variant in ("broken", "fixed")]
    with open_pool("torch", 1, offline=True, also=execute.PRELOAD) as pool:
        return [execute.execute(job, pool) for job in jobs]


@pytest.mark.parametrize(("bug", "framework"), SCRIPTS)
@pytest.mark.parametrize("variant", ["broken", "fixed"])
def test_a_notebook_is_its_script(bug: str, framework: str, variant: str) -> None:
    text = script.read(find(bug).path(framework, variant))
    made = build.notebook(text)
    nbformat.validate(made)
    assert [cell.source for cell in made.cells] == [build.source(text, cell) for cell in script.cells(text)]
    assert "parameters" in made.cells[0].metadata["tags"]
    together = "\n".join(cell.source for cell in made.cells)
    compile(together, bug, "exec")
    assert [line for line in together.splitlines() if line.strip()] == [
        line for line in text.splitlines() if line.strip() and not line.startswith("# %%")]
    assert made == build.notebook(text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("bug", "framework"), SCRIPTS)
def test_an_exercise_hides_the_cause(bug: str, framework: str, language: str) -> None:
    found = find(bug)
    made = exercise.exercise(found, framework, language)
    nbformat.validate(made)
    assert made.cells[0].cell_type == "markdown"
    assert sum("<details>" in cell.source for cell in made.cells) == 3
    assert not any(cell.get("outputs") for cell in made.cells)
    open_text = "\n".join(cell.source for cell in made.cells if "<details>" not in cell.source)
    assert found.file.cause not in open_text


@pytest.mark.slow
@needs_torch
def test_the_expected_exception_is_part_of_the_notebook(bug05) -> None:
    broken, _ = bug05
    assert broken.report.verdict.word == "shown"
    assert broken.report.exception is not None
    assert broken.report.exception.source
    assert broken.report.exception.source in script.read(broken.job.path)
    cells = [cell for cell in broken.notebook.cells if cell.cell_type == "code"]
    failed = [index for index, cell in enumerate(cells) if any(output.output_type == "error" for output in cell.outputs)]
    assert len(failed) == 1
    assert not any(cell.outputs for cell in cells[failed[0] + 1:])
    injected = [cell for cell in cells if "injected-parameters" in cell.metadata.get("tags", [])]
    assert "num_labels = 2" in injected[0].source
    assert str(ROOT) not in nbformat.writes(broken.notebook)


@pytest.mark.slow
@needs_torch
def test_the_fixed_notebook_was_watched(bug05) -> None:
    _, fixed = bug05
    assert fixed.report.exception is None
    assert len(fixed.report.losses) == 5
    assert fixed.report.versions["torch"]
    assert fixed.report.own_s > 0
    nbformat.validate(fixed.notebook)


@pytest.mark.slow
@needs_torch
def test_what_is_kept_comes_back_and_another_content_does_not(bug05, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken, _ = bug05
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    assert store.load(broken.job) is None
    lost = replace(broken, report=nan_in(broken.report))
    store.save(lost)
    again = store.load(broken.job)
    assert again is not None
    assert math.isnan(again.report.losses[0] or 0.0)
    assert again.notebook == broken.notebook
    other = prepare(find("bug05"), "broken", framework="torch", pairs=("num_labels=2", "steps=6"))
    assert store.load(other) is None
    store.save(replace(again, job=other))
    assert store.load(broken.job) is None  # of one job, only the newest is kept
    assert len(list(tmp_path.iterdir())) == 2


def nan_in(report):
    import msgspec

    return msgspec.structs.replace(report, losses=[float("nan")])


@pytest.mark.slow
@needs_torch
def test_an_unexpected_outcome_fails_the_build(bug05, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken, fixed = bug05
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.setattr(store, "load", lambda job: broken if job.variant == "broken" else fixed)
    diagnosis = executed.Diagnosis(script="", framework="torch", versions={}, verdict="clean", first=None, more=[], walk=[], checks=[],
                                   losses=[], reached="forward", stopped="", seconds=0.0)
    monkeypatch.setattr(store, "load_diagnosis", lambda _job: diagnosis)
    with pytest.raises(SiteError, match=r"bug05 fixed \(torch\): did not learn; the diagnosis of bug05 \(torch\) found nothing, not D101"):
        executed.collect([find("bug05")])


def test_the_command_writes_an_exercise_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "x.ipynb"
    for wanted in (0, 2):
        with pytest.raises(SystemExit) as ended:
            main(["notebook", "bug03", "--lang", "ko", "--output", str(target)])
        assert ended.value.code == wanted
    assert "already there" in capsys.readouterr().err
    nbformat.validate(nbformat.read(target, as_version=4))
    for arguments, code in ((["bug99"], 3), (["bug03", "--lang", "xx"], 2), (["bug05", "--framework", "tf"], 2),
                            (["bug03", "--output", str(tmp_path / "none" / "x.ipynb")], 2)):
        with pytest.raises(SystemExit) as ended:
            main(["notebook", *arguments])
        assert ended.value.code == code
        assert capsys.readouterr().err.count("\n") == 1
