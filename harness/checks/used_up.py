"""Training data that is there for one pass only."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class UsedUp(Check):
    """The training data is used up after the first pass.

    A generator, `map`, `zip` or an open file gives what it has once. A loop over it ends at once the second time, without an error, and the
    epochs that are counted on are epochs in which nothing happens.
    Sources: Python docs, Glossary ("iterator": "attempting this with an iterator will just return the same exhausted iterator object");
    PyTorch docs, `IterableDataset`.
    """

    code: ClassVar[str] = "D114"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from passes over the training loader that gave no batch, and from the text of a loop that has no loader."""
        loader = raised.train_loader(seen)
        written = seen.sites.get("used_up")
        if loader is None and written is None:
            if not seen.steps:
                raise NotJudged("no training step was seen")
            return None
        empty = loader.empty_passes if loader is not None else 0
        if not empty and written is None:
            return None
        evidence = [f"passes over the training data that gave no batch, after those that did: {empty}"] if empty else []
        return Finding(
            message="The training data is used up after the first pass: what it is read from gives its rows once, and every later epoch is "
                    "empty.",
            remedy="Make it anew for every pass: a list in its place, a function that is called in each epoch, or, in an "
                   "`IterableDataset`, all of it inside `__iter__` (`def __iter__(self): return map(parse, self.lines)`).",
            site=written or reading.place(seen, "one_shot", "stream") or (loader.site if loader is not None else None)
            or reading.place(seen, "loader", "fit"),
            evidence=[*evidence, f"steps that were watched: {len(seen.steps)}", *reading.own_losses(seen)])
