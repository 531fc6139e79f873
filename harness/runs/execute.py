"""One run of one script: prepare the request, run it, and judge what was seen."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import errors, script
from harness.catalog import checkpoints, values
from harness.catalog.load import Bug
from harness.catalog.schema import Value, Variant
from harness.errors import BadParameter, ChildDied, MissingRequirement
from harness.evidence import facts
from harness.evidence.judge import judge
from harness.paths import ROOT
from harness.process import crash, launch
from harness.process.environment import for_script
from harness.runs import availability
from harness.runs.report import ExceptionReport, RunReport

_IMPORT_ALLOWANCE_S = 120.0
_SLOWNESS = 10.0


@dataclass(frozen=True)
class Job:
    """A run to be made: specimen, framework, variant, the values to put in, and all parameters with their defaults."""

    bug: Bug
    framework: str
    variant: Variant
    values: dict[str, Value]
    parameters: dict[str, Value]

    @property
    def name(self) -> str:
        return f"{self.bug.id} {self.variant} ({self.framework})"

    @property
    def path(self) -> Path:
        return self.bug.path(self.framework, self.variant)

    @property
    def offline(self) -> bool:
        """Whether everything the run loads is on this machine, so that the network may stay shut."""
        named = [str(self.parameters.get(name, "")).partition(":")[0] for name in ("checkpoint", "dataset")]
        return all((ROOT / name).exists() for name in named)

    @property
    def timeout_s(self) -> float:
        """Default limit: far above the specimen's budget, since a slow machine is no failure."""
        return self.bug.file.time_budget_s * _SLOWNESS + _IMPORT_ALLOWANCE_S


def prepare(bug: Bug, variant: Variant, *, framework: str | None = None, pairs: tuple[str, ...] = (), device: str | None = None,
            seed: int | None = None) -> Job:
    """Check everything that can be checked before a child starts. Raises `BadParameter`, `MissingRequirement`, `CatalogError`."""
    entry = availability.choose(bug, framework)
    path = bug.path(entry.framework, variant)
    script.parse(script.read(path), path)
    if device is not None:
        pairs = (*pairs, f"device={device}")
    found = values.parse(bug, entry.framework, variant, pairs)
    if seed is not None:
        found |= values.parse(bug, entry.framework, variant, (f"seed={seed}",))
    parameters = bug.defaults(entry.framework, variant) | found
    wanted = str(parameters.get("device", "cpu"))
    if wanted not in entry.devices:
        raise BadParameter(f"{bug.id} ({entry.framework}) cannot use device {wanted!r}; it runs on {', '.join(entry.devices)}")
    why = availability.device_obstacle(entry, wanted)
    if why:
        raise MissingRequirement(f"{bug.id}: device {wanted} cannot be used: {why}")
    if "checkpoint" in found:
        found["checkpoint"] = checkpoints.resolve(str(found["checkpoint"]))
    return Job(bug, entry.framework, variant, found, parameters | found)


@contextmanager
def request_for(job: Job, *, quiet: bool) -> Iterator[launch.Request]:
    """A request with a scratch folder of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=f"zoo-{job.bug.id}-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        (folder / "tmp").mkdir()
        noise = folder / "noise.log" if quiet else None
        yield launch.Request(script=job.path, values=job.values, events=folder / "events.jsonl", noise=noise)


def environment_for(job: Job, request: launch.Request, *, quiet: bool, jobs: int = 1) -> dict[str, str]:
    """Environment of a job's child; its temporary files go into the request's scratch folder."""
    return {**for_script(job.framework, quiet=quiet, offline=job.offline, jobs=jobs), "TMPDIR": str(request.events.parent / "tmp")}


def execute(job: Job, *, quiet: bool, timeout_s: float | None, on_output: Callable[[bytes, bool], None],
            on_start: Callable[[Path], None] = lambda _events: None) -> RunReport:
    """Run a job in a fresh process. `on_start` gets the path of the event file before the child writes to it.

    Raises `ChildDied` where the child was ended by the timeout or a signal.
    """
    with request_for(job, quiet=quiet) as request:
        on_start(request.events)
        limit = timeout_s or job.timeout_s
        outcome = launch.run(request, environment_for(job, request, quiet=quiet), limit, on_output)
        return conclude(job, request, outcome, limit)


def conclude(job: Job, request: launch.Request, outcome: launch.Outcome, limit_s: float) -> RunReport:
    """The report of a child, where it came to the end of its script; how it ended after that does not matter. Raises `ChildDied`."""
    events = read_events(request.events)
    end = next((event for event in events if event["event"] == "end"), None)
    if end is None:
        raise _died(job, request, outcome, limit_s, steps=sum(event["event"] == "step" for event in events))
    return _report(job, events, end)


def _died(job: Job, request: launch.Request, outcome: launch.Outcome, limit_s: float, steps: int) -> ChildDied:
    if outcome.timed_out:
        return ChildDied(f"{job.name} was ended after {limit_s:g} s, at step {steps}; give it more with --timeout {2 * limit_s:g}")
    if outcome.signal is not None:
        name = signal.Signals(outcome.signal).name
        why = "; memory ran out, and the kernel ended it: try a smaller batch_size" if outcome.out_of_memory else ""
        found = crash.read(request.events.parent, job.path)
        return ChildDied(f"{job.name} was ended by {name} at step {steps}{availability.explained(found)}{why}")
    noise = request.noise.read_text(errors="replace")[-2000:] if request.noise and request.noise.exists() else ""
    return ChildDied(f"{job.name} ended with status {outcome.status} before it could report, at step {steps}; run it again with "
                     f"--verbose to see why" + (f" (last words: {noise.strip().splitlines()[-1]})" if noise.strip() else ""))


def _report(job: Job, events: list[dict[str, Any]], end: dict[str, Any]) -> RunReport:
    measured = facts.collect(events)
    raised = next((event for event in events if event["event"] == "exception"), None)
    context = {**job.parameters, "framework": job.framework}
    verdict = judge(job.variant, job.bug.file.evidence, job.bug.file.learns, measured, raised, context, end["versions"])
    exception = ExceptionReport(**{name: raised[name] for name in ExceptionReport.__struct_fields__}) if raised else None
    return RunReport(
        bug=job.bug.id, title=job.bug.file.title, variant=job.variant, framework=job.framework,
        script=os.path.relpath(job.path, ROOT), parameters=job.parameters, verdict=verdict, exception=exception, facts=measured,
        losses=facts.losses(events), versions=end["versions"], wall_s=end["wall_s"], imports_s=end["imports_s"],
        own_s=max(0.0, end["wall_s"] - end["imports_s"]), exit_code=errors.OK if verdict.holds else errors.NOT_SHOWN,
        date=datetime.now(UTC).date().isoformat())


def read_events(path: Path) -> list[dict[str, Any]]:
    """The events written so far; a last line that is not whole yet is left out."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1] if line]
