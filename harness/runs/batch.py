"""Many runs: forked from a warm parent per framework where the system can, one fresh process after another where it cannot."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ChildDied
from harness.process import environment, launch, warm
from harness.runs.execute import Job, conclude, execute, request_for
from harness.runs.report import RunReport


@dataclass(frozen=True)
class Finished:
    """A job and how it went: a report, or the reason there is none."""

    job: Job
    report: RunReport | None
    error: str | None
    output: str


def run_many(jobs: Sequence[Job], *, workers: int, timeout_s: float | None = None, quiet: bool = True) -> Iterator[Finished]:
    """Run jobs, at most `workers` side by side, each with its share of the cores; yields each as it ends."""
    if not warm.supported():
        yield from (_cold(job, timeout_s, quiet) for job in jobs)
        return
    for framework in dict.fromkeys(job.framework for job in jobs):
        group = [job for job in jobs if job.framework == framework]
        offline = all(job.offline for job in group)
        share = max(1, min(workers, len(group)))
        variables = environment.for_script(framework, quiet=quiet, offline=offline, jobs=share)
        with warm.start(framework, variables) as parent:
            yield from _drive(parent, group, share, timeout_s, quiet)


def _drive(parent: warm.WarmParent, group: list[Job], workers: int, timeout_s: float | None, quiet: bool) -> Iterator[Finished]:
    waiting = list(enumerate(group))
    with contextlib.ExitStack() as stack, tempfile.TemporaryDirectory(prefix="zoo-batch-") as folder:
        active: dict[int, tuple[contextlib.ExitStack, launch.Request, Path, float]] = {}
        while waiting or active:
            while waiting and len(active) < workers:
                number, job = waiting.pop(0)
                own = stack.enter_context(contextlib.ExitStack())
                request = own.enter_context(request_for(job, quiet=quiet))
                output, limit = Path(folder) / f"{number}.log", timeout_s or job.timeout_s
                parent.submit(number, request.as_json(), output, request.events.parent / "tmp", limit)
                active[number] = own, request, output, limit
            ended = parent.wait()
            if ended is None:
                continue
            number, outcome = ended
            own, request, output, limit = active.pop(number)
            with own:
                yield _finished(group[number], request, outcome, limit, output)


def _finished(job: Job, request: launch.Request, outcome: launch.Outcome, limit_s: float, output: Path) -> Finished:
    text = output.read_text(errors="replace") if output.exists() else ""
    try:
        return Finished(job, conclude(job, request, outcome, limit_s), None, text)
    except ChildDied as error:
        return Finished(job, None, str(error), text)


def _cold(job: Job, timeout_s: float | None, quiet: bool) -> Finished:
    chunks: list[bytes] = []
    try:
        report = execute(job, quiet=quiet, timeout_s=timeout_s, on_output=lambda data, _is_error: chunks.append(data))
    except ChildDied as error:
        return Finished(job, None, str(error), b"".join(chunks).decode(errors="replace"))
    return Finished(job, report, None, b"".join(chunks).decode(errors="replace"))
