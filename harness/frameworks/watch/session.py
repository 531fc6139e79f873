"""One watched script: its record, its budget, and the hooks that are set for it and taken away again.

A framework's watcher hangs its hooks on the session; a hook reads and writes the record and never breaks the script: whatever goes wrong in
it is noted, and the script's own call goes on.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import wrapt

from harness.catalog.schema import STAGES, Stage
from harness.checks.base import WALK, all_checks, walk
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.frameworks.resources import resident_bytes
from harness.frameworks.watch import added_on, exceptions, imports, reseeded, sources, sweeps, texts
from harness.frameworks.watch.answered import Answered
from harness.frameworks.watch.arithmetic import Arithmetic
from harness.frameworks.watch.choosers import Choosers
from harness.frameworks.watch.columns import Columns
from harness.frameworks.watch.configs import Configs
from harness.frameworks.watch.eaten import Eaten
from harness.frameworks.watch.emptied import Emptied
from harness.frameworks.watch.encoders import Encoders
from harness.frameworks.watch.file_pairs import FilePairs
from harness.frameworks.watch.folds import Folds
from harness.frameworks.watch.glued import Glued
from harness.frameworks.watch.grouped import Grouped
from harness.frameworks.watch.growing import Growing
from harness.frameworks.watch.indicators import Indicators
from harness.frameworks.watch.joined import Joined
from harness.frameworks.watch.limits import Limits
from harness.frameworks.watch.listeners import Listeners
from harness.frameworks.watch.maps import Maps
from harness.frameworks.watch.numberings import Numberings
from harness.frameworks.watch.one_row import OneRow
from harness.frameworks.watch.patches import Patches
from harness.frameworks.watch.raw_bytes import RawBytes
from harness.frameworks.watch.sites import Place, Sites, site
from harness.frameworks.watch.trainings import Trainings
from harness.frameworks.watch.wholes import Wholes
from harness.process.environment import cores

T = TypeVar("T")
_VERSIONED = ("torch", "transformers", "tensorflow", "tf_keras", "keras", "datasets", "evaluate", "accelerate", "numpy", "sklearn")
# Module whose import makes a watcher useful -> where the watcher is. Each is looked for only then.
_WATCHERS = {
    "torch": "harness.frameworks.watch.torch_watch:TorchWatcher",
    "tf_keras": "harness.frameworks.watch.keras_watch:KerasWatcher",
    "keras": "harness.frameworks.watch.keras_watch:KerasWatcher",
}
_WARNINGS = 30


class Enough(BaseException):
    """Ends a script that has been watched long enough. No `Exception`, so that a script's own handlers let it through."""


@dataclass(frozen=True)
class WatchBudget:
    """`seconds` of training to be watched, probes included; `steps` of it in full; `probe_seconds` for all probes together (0: none).

    Of a slow model fewer steps will do: those of the first `slow_seconds` of training, probes not counted, but at least `least_steps`,
    and twice as many where these do not tell whether the script learns. Up to `patient_steps` where all experiments are done, nothing was
    found, and the loss is still that of a guess. Then the script goes on at full speed until `onward_seconds` of its training are over:
    the last batch of an epoch, a later epoch, a loss that turns NaN on the way are seen so. One that comes back to its training after an
    evaluation is let go on, its passes cut short, for `further_seconds`: it may begin another training.
    """

    seconds: float = 20.0
    steps: int = 60
    patient_steps: int = 300
    probe_seconds: float = 6.0
    slow_seconds: float = 4.0
    least_steps: int = 24
    onward_seconds: float = 5.0
    further_seconds: float = 3.0


class Clock:
    """Seconds of work: of this thread, or of all threads of this process as far as there are cores for them. On a machine that others keep
    busy, wall time says nothing about a script; a third of it at least counts, for devices and workers that are waited for."""

    def __init__(self) -> None:
        self._wall, self._own, self._all = time.monotonic(), time.thread_time(), time.process_time()
        self._cores = cores()

    def seconds(self) -> float:
        """Since this clock was made."""
        wall = time.monotonic() - self._wall
        return min(wall, max(time.thread_time() - self._own, (time.process_time() - self._all) / self._cores, wall / 3))


class Watcher(Protocol):
    """A framework's part of a session. Made when the framework is first imported."""

    def attach(self, module: Any) -> None:
        """Hook the framework; `module` is the one whose import was seen. Called once for each of the watcher's modules."""

    def finish(self, error: BaseException | None) -> None:
        """The script is over and the hooks are gone: complete the record."""


# One entry for each fork between the first process and this one: looked at with every call that is watched, where asking the system for a
# process id would be dear.
_forks: list[None] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forks.append(None))


class _Ear(logging.Handler):
    """Turns log records into notes of a session."""

    def __init__(self, session: WatchSession) -> None:
        super().__init__(logging.WARNING)
        self._session = session

    def emit(self, record: logging.LogRecord) -> None:
        if self._session.active:
            self._session.warn(record.getMessage()[:400])


class WatchSession:
    """Watches one script. `attach`, run the script, `detach`, `finish`."""

    def __init__(self, script_path: Path | str, budget: WatchBudget | None = None) -> None:
        self.script = Path(script_path)
        self.budget = budget or WatchBudget()
        self.observation = Observation(script=str(script_path))
        self.sites = Sites(script_path)
        self.callers: dict[str, tuple[int, ...]] = {}  # by the name of a site, the script's lines that were under way there first
        self.patches = Patches()
        self.trainings = Trainings(self)
        self.stopping: str | None = None
        self.module_at_fault: dict[str, Any] = {}
        self.answered = Answered()
        self.comparisons: list[Callable[[Any, Any], None]] = []  # told of answers and references; metrics are hooked by one framework only
        self._watchers: dict[str, Watcher] = {}
        self._hooks: list[tuple[str, Callable[[Any], None]]] = []
        self._imports = imports.UnderWay()
        self._limits = Limits(self)
        self._maps, self._columns, self._configs = Maps(self), Columns(self), Configs(self)
        self.open, self.joined = False, Joined(self)  # `open`: something was found that more steps may change
        self.encoders, self.folds, self.choosers, self.raw_bytes = Encoders(self), Folds(self), Choosers(self), RawBytes(self)
        self.wholes, self.seeds, self.emptied, self.eaten = Wholes(self), reseeded.Reseeded(self), Emptied(self), Eaten(self)
        self.file_pairs, self.numberings, self.growing, self.one_row = FilePairs(self), Numberings(self), Growing(self), OneRow(self)
        self._on = self.late = False
        self._paused, self._forks = 0, len(_forks)
        self._thread = threading.get_ident()
        self._clock: Clock | None = None

    @property
    def active(self) -> bool:
        """Whether a hook has to look: attached, not inside a probe, and neither a forked worker nor a helper thread."""
        return self._on and not self._paused and len(_forks) == self._forks and threading.get_ident() == self._thread

    @property
    def experimenting(self) -> bool:
        """Whether what runs is not the script's, but a probe."""
        return self._on and bool(self._paused)

    @property
    def attached(self) -> bool:
        return self._on

    def attach(self, *, late: bool = False) -> None:
        """Start watching: a framework is hooked once it is imported. `late`: the script has trained before."""
        self._on, self.late = True, late
        self._limits.attach()
        for name in _WATCHERS:
            self.when_imported(name, functools.partial(self._start, name))
        self.when_imported("transformers.utils.logging", self._hear)
        for part in (self._maps, self._columns, self._configs, self.encoders, self.choosers, self.raw_bytes, self.wholes, self.seeds,
                     Indicators(self), Arithmetic(self), Grouped(self), self.folds, self.file_pairs,
                     self.numberings, Glued(self), Listeners(self)):
            part.attach()

    def when_imported(self, name: str, hook: Callable[[Any], None]) -> None:
        """Call `hook(module)` once the module is imported, at once if it is; never after `detach`."""

        def guarded(module: Any) -> None:
            if self._on:
                with self.quiet(f"hooking {name}"):
                    hook(module)

        if imports.under_way(name):
            self._imports.after(name, guarded)
            return
        self._hooks.append((name, guarded))
        wrapt.register_post_import_hook(guarded, name)

    def _hear(self, _module: Any) -> None:
        """Note what transformers warns of (texts too long for a model, weights drawn anew)."""
        ear = _Ear(self)
        logger = logging.getLogger("transformers")
        logger.addHandler(ear)
        self.patches.calling(functools.partial(logger.removeHandler, ear))

    def _start(self, name: str, module: Any) -> None:
        where, _, cls = _WATCHERS[name].partition(":")
        if _WATCHERS[name] not in self._watchers:
            try:
                made = getattr(importlib.import_module(where), cls)(self)
            except ModuleNotFoundError as error:
                if error.name != where:
                    raise
                return
            self._watchers[_WATCHERS[name]] = made
        self._watchers[_WATCHERS[name]].attach(module)

    def detach(self) -> None:
        """Take every hook away."""
        self._on = False
        self.patches.undo()
        _forget_import_hooks(self._hooks)
        self._hooks = []
        self._imports.forget()

    def finish(self, error: BaseException | None) -> Observation:
        """The completed record of a script that ended with `error` (None: by itself). Detaches first."""
        self.detach()
        self._limits.finish()
        seen = self.observation
        seen.running = seen.resident = None
        seen.stopped = _how_it_ended(error, self.stopping, trained=seen.trained)
        if error is not None and not isinstance(error, Enough | SystemExit | KeyboardInterrupt):
            with self.quiet("the exception"):
                seen.exception = exceptions.facts(error, self.sites, self.module_at_fault)
                self.reach(seen.exception.stage)
                built = site(self.module_at_fault.get("built")) if seen.exception.module else None
                if built is not None:
                    seen.sites.setdefault("layer", built)
                if seen.truncated_at is not None:
                    self.warn("training was cut short before this exception was raised")
        for watcher in self._watchers.values():
            with self.quiet(f"finishing {type(watcher).__name__}"):
                watcher.finish(error)
        seen.growing = self.safely("calls that grow in number", self.growing.finish)
        if seen.steps and seen.running_on is None:
            seen.running_on = self.safely("counters that run on", added_on.find, self)
        self._maps.finish()
        for part in (self.emptied, self.file_pairs, self.eaten):
            self.safely("what was kept", part.finish)
        texts.finish(self)
        self.safely("rates that are tried", sweeps.note, self.observation)
        seen.sources = self.safely("where labels and inputs come from", sources.of, seen, self.callers) or {}
        seen.versions = {name: str(getattr(sys.modules[name], "__version__", "")) for name in _VERSIONED if name in sys.modules}
        return seen

    # What hooks use

    @contextlib.contextmanager
    def quiet(self, what: str) -> Iterator[None]:
        """Keep a mistake of the watching from the script: it is noted instead. `Enough` passes."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a hook must never break the script
            self.warn(f"watching failed at {what}: {type(error).__name__}: {error}"[:300])

    def safely(self, what: str, function: Callable[..., T], *args: Any) -> T | None:
        """`function(*args)`, or None and a note where it failed."""
        try:
            return function(*args)
        except Exception as error:  # noqa: BLE001 - a hook must never break the script
            self.warn(f"watching failed at {what}: {type(error).__name__}: {error}"[:300])
            return None

    def compared(self, answers: Any, references: Any) -> None:
        """The script holds answers of a model against references, row by row."""
        for told in self.comparisons:
            self.safely("a comparison", told, answers, references)

    def look(self) -> None:
        """From another thread: where the script is now, and how large its process."""
        seen = self.observation
        seen.running, seen.resident = site(self.sites.of_thread(self._thread)), resident_bytes()

    def warn(self, text: str) -> None:
        """Note something in the record, once."""
        if len(self.observation.warnings) < _WARNINGS and text not in self.observation.warnings:
            self.observation.warnings.append(text)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """No hook looks inside: for probes."""
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1

    def reach(self, stage: Stage) -> None:
        """The script has come to a stage."""
        if STAGES.index(stage) > STAGES.index(self.observation.reached):
            self.observation.reached = stage

    def site(self, name: str, place: Site | None = None, *, last: bool = False) -> Site | None:
        """Remember where something was done first, or `last`; returns the place."""
        found = place or self.sites.here()
        known = self.observation.sites.get(name)
        if found is not None and (known is None or (last and found != known)):
            self.observation.sites[name] = found
            self.callers[name] = tuple(line for file, line, _ in self.sites.stack() if file == found.file)
        return found

    def noted(self, name: str, place: Place | None) -> None:
        """Remember a place that is known already, if it is."""
        if (known := site(place)) is not None:
            self.site(name, known)

    def rows_trained(self, given: Sequence[Any], *, whole: bool = False, beside: Sequence[Any] = ()) -> None:
        """A training step runs a model on these arrays, the `whole` of what it is given, and on those `beside`: how were rows encoded?"""
        told = [self.encoders.trained, self.choosers.trained, *([self.one_row.trained] if whole else [])]
        for part in told:
            self.safely("rows that are trained on", part, given)
        for part in (self.joined.trained, self.numberings.trained):
            self.safely("columns that are trained on", part, [*given, *beside])

    def rows_held(self, given: Sequence[Any], *, beside: Sequence[Any] = ()) -> None:
        """An evaluation does."""
        for part in (self.encoders, self.choosers, self.emptied, self.numberings):
            self.safely("rows of an evaluation", part.held, [*given, *beside] if part is self.numberings else given)

    def training_begins(self) -> None:
        """The clock of the budget starts with the first training step."""
        if self._clock is None:
            self._clock = Clock()
            self.safely("a split by hand", Grouped(self).by_hand)

    @property
    def watched_seconds(self) -> float:
        """Since training began; 0 before."""
        return 0.0 if self._clock is None else self._clock.seconds()

    @property
    def out_of_time(self) -> bool:
        return self.watched_seconds > self.budget.seconds

    def settle(self, *, evaluated: bool = False, last: bool = False) -> None:
        """To be called when every step and probe is there: end the script where a fault is found that lies before its evaluation (or in it,
        where it was `evaluated` beforehand), since all that could follow is its echo. Raises `Enough`.

        What more steps may change is `open` then, and ends the script when it is called for the `last` time only.
        """
        found = self._found(evaluated=evaluated)
        self.open = bool(found) and not last and all(
            check.may_change(self.observation) for check in all_checks() if check.code in found)
        if found and not self.open:
            self.enough("enough steps")

    def reconsider(self) -> None:
        """To be called now and then while something is `open`: it is not any more where further steps have taken it back."""
        self.open = bool(self._found())

    def _found(self, *, evaluated: bool = False) -> set[str]:
        self.safely("rates that are tried", sweeps.note, self.observation)
        results = self.safely("a first verdict", walk, self.observation) or []
        before = WALK[:WALK.index("evaluation") + evaluated]
        return {result.code for result in results if result.state == "found" and result.stage in before}

    def enough(self, why: str) -> None:
        """End the script. Raises `Enough`; to be called from a hook that the script itself runs through."""
        self.stopping = self.stopping or why
        raise Enough(self.stopping)


def _how_it_ended(error: BaseException | None, stopping: str | None, *, trained: bool) -> str:
    if isinstance(error, SystemExit):
        return "exit"
    if error is not None and not isinstance(error, Enough):
        return "exception"
    return stopping or ("finished" if trained else "never trained")


def _forget_import_hooks(hooks: list[tuple[str, Callable[[Any], None]]]) -> None:
    """wrapt offers no way to take a hook back, so its table is cleaned by hand, and its finder goes when the table is empty."""
    importer: Any = sys.modules[wrapt.register_post_import_hook.__module__]
    table = importer._post_import_hooks
    with importer._post_import_hooks_lock:
        for name, hook in hooks:
            if hook in table.get(name, ()):
                table[name].remove(hook)
                if not table[name]:
                    del table[name]
        if not any(table.values()):
            sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, importer.ImportHookFinder)]
            importer._post_import_hooks_init = False
