"""The record of one diagnosis, from which every report is made."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.checks.base import WALK, Result
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.diagnosis.silence import reservation, unjudged

FORMAT = 1


class StageState(msgspec.Struct, frozen=True, kw_only=True):
    """One stage of the walk: `clean`, `found`, `not reached`, or `not judged`, with how many checks were clean, found, skipped."""

    stage: str
    state: str
    clean: int
    found: int
    skipped: int


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """A diagnosis. `verdict`: found, clean, or no verdict, with its `reason` (of clean: a reservation). `first` is the first cause, or
    None; `more` are further findings that do not depend on it.

    `reached` is the last stage the script came to and `stopped` why watching ended; `losses` the watched losses in nats; `seconds` wall
    time of the child, of which `imports_s` went into import statements. `training`: the line of its first step, where the verdict is on
    another training than the script's first.
    """

    format: int = FORMAT
    script: str
    framework: str
    versions: dict[str, str]
    verdict: str
    reason: str | None = None
    first: Result | None
    more: list[Result]
    walk: list[StageState]
    checks: list[Result]
    losses: list[float | None]
    reached: str
    stopped: str
    seconds: float
    imports_s: float = 0.0
    training: Site | None = None
    observation: Observation | None = None


def conclude(shown: str, seen: Observation, results: list[Result], *, keep_observation: bool = False) -> Diagnosis:
    """The record of a walk's results. The first finding in the order of the walk is the first cause."""
    found = [result for result in results if result.state == "found"]
    rank = {stage: number for number, stage in enumerate(WALK)}
    found.sort(key=lambda result: rank[result.stage])
    first = _first(found)
    reason = None if found else unjudged(seen, results)
    losses = [step.loss for step in seen.steps] or list(seen.losses_by_hand)
    verdict = "found" if found else "clean" if reason is None and losses else "no verdict"
    if verdict == "clean":
        reason = reservation(seen)
    return Diagnosis(
        script=shown, framework=seen.framework, versions=seen.versions,
        verdict=verdict, reason=reason, first=first,
        more=[result for result in found if result is not first], walk=_stages(seen, results, rank), checks=results,
        losses=losses, reached=seen.reached, stopped=seen.stopped,
        seconds=seen.seconds, imports_s=seen.imports_seconds,
        observation=seen if keep_observation else None)


def _first(found: list[Result]) -> Result | None:
    """A fault with a name goes before an exception that nothing else explains."""
    named = [result for result in found if result.code != "A799"]
    ordered = named or found
    return ordered[0] if ordered else None


def _stages(seen: Observation, results: list[Result], rank: dict[Any, int]) -> list[StageState]:
    stages = []
    for stage in WALK:
        own = [result.state for result in results if result.stage == stage]
        counts = {state: own.count(state) for state in ("clean", "found", "skipped")}
        if counts["found"]:
            state = "found"
        elif stage not in ("setup", "resources") and rank[stage] > rank[seen.reached] and (seen.exception or seen.ended):
            state = "not reached"
        else:
            state = "clean" if counts["clean"] else "not judged"
        stages.append(StageState(stage=stage, state=state, **counts))
    return stages
