"""The catalogue itself: every broken script shows exactly its evidence, every fixed one learns, on several seeds and settings.

All runs that were collected are made once, from warm parents, when the first of them is asked for.
"""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from collections.abc import Callable

import pytest

from harness import script
from harness.catalog.load import Bug, everything
from harness.catalog.schema import STAGES, Message, Rule
from harness.evidence.judge import applies
from harness.process.environment import cores
from harness.runs import availability
from harness.runs.batch import Finished, run_many
from harness.runs.execute import Job, prepare
from harness.runs.report import RunReport

MOST_CHANGED_LINES = 12
CELL_STAGES = {"setup", "data", "batch", "model", "resources", "training", "evaluation"}
COMMON = {"seed", "learning_rate", "batch_size", "num_labels", "steps", "checkpoint", "dataset", "device"}
BUGS = {bug.id: bug for bug in everything()}
SCRIPTS = [(bug.id, entry.framework) for bug in BUGS.values() for entry in bug.file.scripts]
# Of each parameter the first value counts that a specimen's range allows.
SETTINGS: dict[str, dict[str, tuple[int, ...]]] = {
    "defaults": {},
    "other labels and batch": {"seed": (2,), "num_labels": (5, 2), "batch_size": (24, 256)},
    "less memory": {"memory_budget_mb": (200,)},
}


def pairs_for(bug: Bug, framework: str, setting: str) -> tuple[str, ...]:
    known = bug.defaults(framework, "broken")
    found = []
    for name, values in SETTINGS[setting].items():
        if name not in known:
            continue
        parameter = bug.file.parameters[name]
        allowed = [value for value in values if (parameter.min or 0) <= value <= (parameter.max or value)]
        if allowed:
            found.append(f"{name}={allowed[0]}")
    return tuple(found)


def case(bug: str, framework: str, variant: str, setting: str):
    why = availability.obstacle(BUGS[bug].script(framework))
    marks = [pytest.mark.slow] + ([pytest.mark.skip(reason=why)] if why else [])
    return pytest.param((bug, framework, variant, setting), id=f"{bug}-{framework}-{variant}-{setting}", marks=marks)


CASES = [case(bug, framework, variant, setting) for bug, framework in SCRIPTS for variant in ("broken", "fixed") for setting in SETTINGS
         if setting == "defaults" or pairs_for(BUGS[bug], framework, setting)]


@pytest.fixture(scope="session")
def result_of(request: pytest.FixtureRequest) -> Callable[[tuple[str, str, str, str]], Finished]:
    """Makes every collected run, then hands them out."""
    wanted = [item.callspec.params["run"] for item in request.session.items
              if "run" in getattr(getattr(item, "callspec", None), "params", {}) and not item.get_closest_marker("skip")]
    jobs: dict[int, tuple[str, str, str, str]] = {}
    prepared: list[Job] = []
    for key in wanted:
        bug, framework, variant, setting = key
        job = prepare(BUGS[bug], variant, framework=framework, pairs=pairs_for(BUGS[bug], framework, setting))
        jobs[id(job)] = key
        prepared.append(job)
    results = {jobs[id(finished.job)]: finished for finished in run_many(prepared, workers=cores())}
    return results.__getitem__


@pytest.mark.parametrize("run", CASES)
def test_a_run_gives_what_its_specimen_promises(run: tuple[str, str, str, str], result_of) -> None:
    finished = result_of(run)
    assert finished.error is None, finished.output[-2000:]
    failed = [check for proof in finished.report.verdict.proofs for check in proof.checks if not check.holds]
    assert finished.report.verdict.holds, (failed, finished.report.losses[-5:], finished.output[-1500:])
    assert finished.report.framework == "tensorflow" or "tensorflow" not in finished.report.versions, "it takes seconds to import"
    if finished.report.variant == "broken":
        for message in applying(finished.report):
            raised = finished.report.exception
            said = f"{raised.type}: {raised.message}" if raised else ""
            assert re.search(message.pattern, said) if message.text else not said, (message, said[-1500:])


def applying(report: RunReport) -> list[Message]:
    """The quoted messages that such a run must end with."""
    context = {**report.parameters, "framework": report.framework}
    return [message for message in BUGS[report.bug].file.messages if message.framework == report.framework and message.when is not None
            and applies(Rule(when=message.when), context, report.versions)]


@pytest.mark.parametrize(("bug", "framework"), SCRIPTS)
@pytest.mark.parametrize("variant", ["broken", "fixed"])
def test_a_script_is_a_students_own(bug: str, framework: str, variant: str) -> None:
    found = BUGS[bug]
    path = found.path(framework, variant)
    text = script.read(path)
    imported = {name.split(".")[0] for node in ast.walk(ast.parse(text)) for name in _modules(node)}
    assert "harness" not in imported
    assert len(text.splitlines()) <= 110
    titled = script.cells(text)
    assert titled[0].tags == ("parameters",)
    assert {cell.stage for cell in titled[1:]} <= CELL_STAGES
    if variant == "broken":
        assert not re.search(r"\b(bug|broken|wrong|fault|mistake|fixme|should be|fix)\b", text, re.IGNORECASE)
        assert found.file.fault.replace("-", " ") not in text.lower()


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


@pytest.mark.parametrize(("bug", "framework"), SCRIPTS)
def test_broken_and_fixed_are_nearly_the_same(bug: str, framework: str) -> None:
    before, after = (script.read(BUGS[bug].path(framework, variant)) for variant in ("broken", "fixed"))
    changed = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[:1] in "+-"]
    assert 0 < len(changed) <= MOST_CHANGED_LINES
    assert [cell.stage for cell in script.cells(before)] == [cell.stage for cell in script.cells(after)]


@pytest.mark.parametrize(("bug", "framework"), SCRIPTS)
@pytest.mark.parametrize("variant", ["broken", "fixed"])
def test_parameters_are_papermills_and_all_declared(bug: str, framework: str, variant: str) -> None:
    from papermill.translators import PythonTranslator

    found = BUGS[bug]
    text = script.read(found.path(framework, variant))
    defaults = found.defaults(framework, variant)
    cell = script.parameters_cell(text)
    source = "\n".join(text.splitlines()[cell.first_line:cell.last_line])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [parameter.name for parameter in PythonTranslator.inspect({"source": source})] == list(defaults)
    declared = {name for name, parameter in found.file.parameters.items() if framework in (parameter.frameworks or (framework,))}
    assert set(defaults) == declared
    assert set(defaults) >= COMMON
    types = {"int": int, "float": float, "str": str, "bool": bool}
    assert all(type(value) is types[found.file.parameters[name].type] for name, value in defaults.items())


@pytest.mark.parametrize("bug", BUGS)
def test_a_specimen_is_whole(bug: str) -> None:
    found = BUGS[bug]
    assert (found.solution / "why.md").read_text().strip()
    assert found.file.stage in STAGES
    assert set(found.file.see_also) <= {*BUGS} - {bug}
    named = {entry.broken for entry in found.file.scripts} | {"bug.toml"}
    assert {path.name for path in found.folder.iterdir() if path.name != "__pycache__"} == named
    assert {path.name for path in found.solution.iterdir() if path.name != "__pycache__"} == {
        entry.fixed for entry in found.file.scripts} | {"why.md"}


@pytest.mark.parametrize(("bug", "framework"), SCRIPTS)
def test_messages_of_then_and_now_are_quoted(bug: str, framework: str) -> None:
    found = BUGS[bug].file
    messages = [message for message in found.messages if message.framework == framework]
    assert "2021" in {message.line for message in messages}
    assert {message.line for message in messages} > {"2021"}
    for message in messages:
        assert set(message.when or {}) <= {*found.parameters, "transformers"}
        assert bool(message.text) == bool(message.pattern)
        assert re.search(message.pattern, message.text) if message.text else message.note, message


def test_the_nan_and_the_cuda_error_point_to_each_other() -> None:
    assert "bug06" in BUGS["bug02"].file.see_also
    assert "bug02" in BUGS["bug06"].file.see_also
