"""The shape of a check, and the walk over all of them."""

from __future__ import annotations

import graphlib
import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from harness.catalog.schema import Stage
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site

FAILED = "the check failed"  # how the reason of one begins that raised where it should not have


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found: what was seen (with figures), where, the change that mends it, and evidence to show beneath.

    `evidence`: short lines, each one figure or one offending row. `remedy`: a concrete change, imperative. `stage`: where in the walk it
    was found, of a check that looks at more than its own stage.
    """

    message: str
    remedy: str
    site: Site | None = None
    evidence: list[str] = []
    stage: Stage | None = None


class NotJudged(Exception):
    """Raised by a check that lacks what it needs; its text is the reason that is reported (a guess is no verdict)."""


class Check(ABC):
    """One fault that can be found. The class docstring's first line is its title; the rest tells the source (paper, issue, docs).

    `code`: letter of the stage and number, stable for ever. `requires`: codes whose failure makes this check's answer an echo; it
    is skipped then. `messages`: regular expressions of what exceptions say that point to this check, for looking up a message alone.
    """

    code: ClassVar[str]
    stage: ClassVar[Stage]
    requires: ClassVar[tuple[str, ...]] = ()
    messages: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def check(self, seen: Observation) -> Finding | None:
        """The finding, or None where all is well. Raises `NotJudged` where that cannot be told."""

    @classmethod
    def may_change(cls, seen: Observation) -> bool:
        """Whether a finding of this check is open still, so that some more steps are worth watching before it is believed."""
        del seen
        return False

    @classmethod
    def title(cls) -> str:
        """First line of the docstring."""
        return (cls.__doc__ or cls.__name__).strip().splitlines()[0]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A check's place in the walk: found, clean or skipped, with the finding or the reason."""

    code: str
    stage: Stage
    title: str
    state: str
    finding: Finding | None = None
    reason: str | None = None


# Within the order that `requires` demands, earlier stages come first: that is the walk.
WALK: tuple[Stage, ...] = ("setup", "data", "batch", "forward", "loss", "backward", "step", "evaluation", "resources")


def all_checks() -> list[type[Check]]:
    """Every check class of this package's modules, in the order of the walk. Adding one touches its own file only."""
    package = importlib.import_module("harness.checks")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"harness.checks.{module.name}")
    found = {cls.code: cls for cls in _subclasses(Check) if getattr(cls, "code", None)}
    rank = {stage: number for number, stage in enumerate(WALK)}
    sorter = graphlib.TopologicalSorter({code: [other for other in cls.requires if other in found] for code, cls in found.items()})
    sorter.prepare()
    ordered: list[type[Check]] = []
    ready: list[str] = []
    while sorter.is_active():
        ready += sorter.get_ready()
        ready.sort(key=lambda code: (rank[found[code].stage], code))
        code = ready.pop(0)
        ordered.append(found[code])
        sorter.done(code)
    return ordered


def _subclasses(cls: type[Any]) -> list[type[Any]]:
    return [found for direct in cls.__subclasses__() for found in (direct, *_subclasses(direct))]


def walk(seen: Observation, checks: Sequence[type[Check]] | None = None) -> list[Result]:
    """Hold every check against an observation, in order; dependents of one that found something are skipped as echoes."""
    states: dict[str, Result] = {}
    for cls in all_checks() if checks is None else checks:
        blocked = next((code for code in cls.requires if code in states and (
            states[code].state == "found" or (states[code].reason or "").startswith("echo of"))), None)
        states[cls.code] = _judge(cls, seen, blocked)
    return list(states.values())


def _judge(cls: type[Check], seen: Observation, blocked: str | None) -> Result:
    if blocked is not None:
        return Result(code=cls.code, stage=cls.stage, title=cls.title(), state="skipped", reason=f"echo of {blocked}")
    try:
        finding = cls().check(seen)
    except NotJudged as reason:
        return Result(code=cls.code, stage=cls.stage, title=cls.title(), state="skipped", reason=str(reason))
    except Exception as error:  # noqa: BLE001 - a check that fails is not to take what the others say with it
        return Result(code=cls.code, stage=cls.stage, title=cls.title(), state="skipped",
                      reason=f"{FAILED} ({type(error).__name__}: {error}): please report it")
    if finding is None:
        return Result(code=cls.code, stage=cls.stage, title=cls.title(), state="clean")
    return Result(code=cls.code, stage=finding.stage or cls.stage, title=cls.title(), state="found", finding=finding)
