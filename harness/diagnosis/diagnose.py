"""Diagnose a script: run it under watch in a child, hold every check against what was seen, and conclude."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from harness.checks.base import walk
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import FurtherFacts
from harness.diagnosis import ending, launchers, transport
from harness.diagnosis.record import Diagnosis, conclude
from harness.diagnosis.subject import Subject
from harness.errors import ChildDied, HarnessError, ScriptError
from harness.frameworks.on_cpu import WITHOUT
from harness.process import crash, launch
from harness.process.environment import for_script
from harness.process.pool import Pool

CHILD = "harness.diagnosis.child"
_PROBING = 0.3  # share of the watched time that experiments on copies of the model may take
_TRAININGS = 3  # of one script that are watched, each in a run of its own
_UNWATCHED_S, _LEAST_S = 60.0, 15.0
_ASYNCHRONOUS = ("CUDA error", "CUBLAS_STATUS", "device-side assert", "failed in the TorchScript interpreter")


@dataclass(frozen=True)
class Options:
    """Limits of a watch: `seconds` of training to be watched and `steps` of it; `timeout_s` for everything, imports included."""

    seconds: float = 20.0
    steps: int = 60
    timeout_s: float = 180.0
    verbose: bool = False
    keep_observation: bool = False


def diagnose(subject: Subject, options: Options,
             on_output: Callable[[bytes, bool], None] = lambda _data, _is_error: None, pool: Pool | None = None,
             on_training: Callable[[Site], None] = lambda _line: None) -> Diagnosis:
    """Watch a subject, in a fresh process or in one from a pool, and judge it. Where nothing is found, and it has another training after
    the watched one, it is run once more and watched from there; `on_training` is told the line.

    Raises `ScriptError` where it ended before it trained and nothing explains why, `ChildDied` where it was ended from outside and what had
    been seen by then explains nothing.
    """
    begun = time.monotonic()
    first, seen = _once(subject, options, on_output, pool)
    further, doubt, spent = seen.further, None, (first.seconds, first.imports_s)
    for _ in range(_TRAININGS - 1):
        left = options.timeout_s - (time.monotonic() - begun)
        if first.verdict == "found" or further is None or further.site is None:
            break
        place = subject.cells.site(further.site, subject.path, subject.shown) if subject.cells is not None else further.site
        doubt = f"the training at {place.where}, `{place.source}`, was not watched: "
        if left < _LEAST_S:
            doubt += "no time is left (--timeout gives it more)"
            break
        on_training(place)
        try:
            later, seen = _once(subject, replace(options, timeout_s=left), on_output, pool, further)
        except HarnessError:
            doubt += f"run again, the script did not come to it (it has {min(left, _UNWATCHED_S):.0f} s for that)"
            break
        spent = spent[0] + later.seconds, spent[1] + later.imports_s
        if later.verdict == "found":
            return msgspec.structs.replace(later, training=place, seconds=spent[0], imports_s=spent[1])
        doubt = f"of the training at {place.where}, `{place.source}`: {later.reason}" if later.reason else None
        further = seen.further
    return msgspec.structs.replace(first, reason=first.reason or doubt, seconds=spent[0], imports_s=spent[1])


def _once(subject: Subject, options: Options, on_output: Callable[[bytes, bool], None], pool: Pool | None,
          begin: FurtherFacts | None = None) -> tuple[Diagnosis, Observation]:
    """One run under watch, from its start or from a later training on."""
    seen, outcome, crashed = _watch(subject, options, subject.values, on_output, pool=pool, begin=begin)
    if seen is not None and launchers.asked_for(seen.exception):
        seen, outcome, crashed = _watch(subject, options, subject.values, on_output, begin=begin, beside=launchers.one_of_one())
    ended = ending.in_words(outcome, crashed, seen, options.timeout_s)
    if seen is None:
        raise ChildDied(f"{subject.shown} {ended} before anything could be watched; run it by itself first")
    seen.ended = ending.by_signal(outcome, crashed, seen, subject.path)
    if seen.ended is not None:
        seen.stopped = f"ended by {seen.ended.name}"
    if seen.exception is not None and any(text in seen.exception.message for text in _ASYNCHRONOUS):
        again = _on_the_cpu(subject, options)
        if again is not None:
            seen.exception.cpu_rerun = msgspec.to_builtins(again.exception)
            seen.sites = again.sites | seen.sites  # what was built where does not depend on the device
    results = walk(seen)
    if subject.cells is not None:
        results = [subject.cells.placed(result, subject.path, subject.shown) for result in results]
    found = conclude(subject.shown, seen, results, keep_observation=options.keep_observation)
    if found.verdict == "found":
        return found, seen
    if outcome.timed_out or outcome.signal is not None:
        raise ChildDied(f"{subject.shown} {ended}; {_how_far(seen)}")
    if not seen.steps and not seen.backward_without_step and not seen.functional and seen.exception is None:
        how = {"time": "was stopped", "enough steps": "was stopped", "exit": "called sys.exit()"}.get(seen.stopped, "ended by itself")
        raise ScriptError(f"{subject.shown} {how} without training: no loss went backward and no fit() ran; {_how_far(seen)}. "
                          "Give the script that trains, with the arguments it needs")
    return found, seen


def _watch(subject: Subject, options: Options, values: dict[str, Any], on_output: Callable[[bytes, bool], None],
           pool: Pool | None = None, begin: FurtherFacts | None = None, *,
           without_gpu: bool = False,
           beside: Mapping[str, str] = MappingProxyType({})) -> tuple[Observation | None, launch.Outcome, crash.Crash]:
    """What was seen, how the child ended, and where native code crashed. `beside`: what is added to its environment."""
    with tempfile.TemporaryDirectory(prefix="zoo-diagnose-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        (folder / "tmp").mkdir()
        observation = folder / "observation.json"
        request: dict[str, Any] = {
            "script": str(subject.path), "shown": subject.shown, "values": values, "argv": list(subject.argv),
            "folder": str(subject.folder),
            "observation": str(observation), "noise": None if options.verbose else str(folder / crash.NOISE),
            "budget": {"seconds": options.seconds, "steps": options.steps, "probe_seconds": _PROBING * options.seconds}}
        if without_gpu:
            request["on_cpu"] = True
        if begin is not None:
            request |= {"begin": msgspec.to_builtins(begin), "unwatched_s": _UNWATCHED_S}
        if pool is not None:
            outcome = pool.run(CHILD, request, folder / "output.log", folder / "tmp", options.timeout_s)
        else:
            request_path = folder / "request.json"
            request_path.write_text(json.dumps(request))
            environment = for_script(subject.framework, quiet=not options.verbose, offline=subject.offline)
            if not subject.offline and "TF_USE_LEGACY_KERAS" not in os.environ:
                environment.pop("TF_USE_LEGACY_KERAS", None)  # which Keras a user's own script gets is not for its doctor to decide
            environment |= {**beside, "TMPDIR": str(folder / "tmp"), **({"CUDA_VISIBLE_DEVICES": ""} if without_gpu else {})}
            with (folder / crash.NOISE).open("ab", buffering=0) as noise:
                def heard(data: bytes, is_error: bool) -> None:
                    if is_error:
                        noise.write(data)
                    on_output(data, is_error)

                outcome = launch.run_module(CHILD, request_path, environment, options.timeout_s, heard, subject.folder)
        return transport.read(observation), outcome, crash.read(folder, subject.path)


def _on_the_cpu(subject: Subject, options: Options) -> Observation | None:
    """The same script where tracebacks can be believed: without GPUs, with `device=cpu` where it has that parameter, and where it asks for
    a GPU by name, with what it sends there kept on the CPU. None where it raises nothing there, or that there is no GPU.
    """
    values = subject.values | subject.rerun_on_cpu
    seen, *_ = _watch(subject, options, values, lambda _data, _is_error: None, without_gpu=True)
    return None if seen is None or seen.exception is None or WITHOUT.search(seen.exception.message) else seen


def _how_far(seen: Observation) -> str:
    steps = f", {len(seen.steps)} steps" if seen.steps else ""
    return f"the walk came as far as: {seen.reached}{steps}"
