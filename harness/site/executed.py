"""Everything the pages show that has to be executed: each script's notebook, broken and fixed, and the diagnosis of each broken one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.catalog.load import Bug
from harness.diagnosis import subject
from harness.diagnosis.diagnose import CHILD, Options, diagnose
from harness.diagnosis.record import Diagnosis
from harness.errors import SiteError
from harness.notebooks import store
from harness.notebooks.execute import PRELOAD, Executed, execute
from harness.process.pool import Pool, open_pool
from harness.runs.execute import Job, prepare

_WORKERS = 2
_PATIENT = Options(seconds=90.0, timeout_s=400.0)


@dataclass(frozen=True)
class Shown:
    """What one framework's pair of scripts really did."""

    broken: Executed
    fixed: Executed
    diagnosis: Diagnosis


@dataclass(frozen=True)
class Work:
    """One execution that is not kept yet, and how to make it."""

    name: str
    framework: str
    do: Callable[[Pool], None]


def collect(bugs: Sequence[Bug], say: Callable[[str], None] = lambda _text: None,
            frameworks: Sequence[str] | None = None) -> dict[tuple[str, str], Shown]:
    """Specimen and framework (all, or those named) -> what was executed. What is kept, fits and did what it should is not executed again.

    Raises `SiteError` where a script did not do what its evidence says, or a diagnosis names another cause than `bug.toml`.
    """
    pairs: list[tuple[Bug, str]] = [(bug, framework) for bug in bugs for framework in bug.frameworks
             if frameworks is None or framework in frameworks]
    todo = [work for bug, framework in pairs for work in missing(bug, framework)]
    _do(todo, say)
    found = {(bug.id, framework): _shown(bug, framework) for bug, framework in pairs}
    wrong = [problem for (bug, framework), shown in zip(pairs, found.values(), strict=True) for problem in _problems(bug, framework, shown)]
    if wrong:
        raise SiteError("; ".join(wrong))
    return found


def missing(bug: Bug, framework: str) -> list[Work]:
    """What has to be executed of a specimen in one framework: what is not kept, and what did not do what it should when it was."""
    broken, fixed = prepare(bug, "broken", framework=framework), prepare(bug, "fixed", framework=framework)
    works = [Work(job.name, framework, partial(_execute, job)) for job in (broken, fixed)
             if (kept := store.load(job)) is None or not kept.report.verdict.holds]
    record = store.load_diagnosis(broken)
    if record is None or not _wanted(bug, framework, record):
        works.append(Work(f"{bug.id} diagnosis ({framework})", framework, partial(_diagnose, broken)))
    return works


def _execute(job: Job, pool: Pool) -> None:
    store.save(execute(job, pool))


def _diagnose(job: Job, pool: Pool) -> None:
    with subject.resolve(job.bug.id, (), variant="broken", framework=job.framework, pairs=(), device=None) as found:
        seen = diagnose(found, Options(), pool=pool)
        if seen.verdict != "found":  # a busy machine leaves no time for experiments
            seen = diagnose(found, _PATIENT, pool=pool)
        store.save_diagnosis(job, seen)


def _do(todo: Sequence[Work], say: Callable[[str], None]) -> None:
    done = 0
    for framework in dict.fromkeys(work.framework for work in todo):
        group = [work for work in todo if work.framework == framework]
        workers = min(_WORKERS, len(group))
        say(f"loading {framework} ({len(group)} to execute)")
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(open_pool(framework, workers, offline=True, also=(*PRELOAD, CHILD)))
            threads = stack.enter_context(ThreadPoolExecutor(workers))
            pending: list[tuple[Work, Future[Any]]] = [(work, threads.submit(work.do, pool)) for work in group]
            try:
                for work, future in pending:
                    future.result()
                    done += 1
                    say(f"executed {work.name} ({done}/{len(todo)})")
            finally:
                for _, future in pending:
                    future.cancel()


def _shown(bug: Bug, framework: str) -> Shown:
    broken, fixed = prepare(bug, "broken", framework=framework), prepare(bug, "fixed", framework=framework)
    first, second, record = store.load(broken), store.load(fixed), store.load_diagnosis(broken)
    assert first is not None
    assert second is not None
    assert record is not None
    return Shown(first, second, record)


def _problems(bug: Bug, framework: str, shown: Shown) -> list[str]:
    found = [f"{done.job.name}: {done.report.verdict.word}" for done in (shown.broken, shown.fixed) if not done.report.verdict.holds]
    if not _wanted(bug, framework, shown.diagnosis):
        code = shown.diagnosis.first.code if shown.diagnosis.first else "nothing"
        found.append(f"the diagnosis of {bug.id} ({framework}) found {code}, not {bug.script(framework).check}")
    return found


def _wanted(bug: Bug, framework: str, record: Diagnosis) -> bool:
    code = bug.script(framework).check
    return not code or (record.first is not None and record.first.code == code)
