"""A stream that each of several workers reads whole."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

# Parts: of the rows that came from more than one reader, and of those that came from one reader twice.
_SHARED, _AGAIN = 0.5, 0.1
_KINDS = 32


class ReadByEach(Check):
    """Each of several workers reads the whole stream: every row is delivered several times over.

    A stream has no index that a loader could share out. Each worker is given a copy of it and reads what `__iter__` says, all of it where
    that does not ask which worker it is. Judged from the rows of the first pass: those that several workers bring, while none brings one
    twice, are the same rows, and no natural repeats. Source: PyTorch docs, `torch.utils.data.IterableDataset`.
    """

    code: ClassVar[str] = "D118"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from which worker each row came. Raises `NotJudged` where too few different rows did."""
        loader = raised.train_loader(seen)
        facts = loader.readers if loader is not None else None
        if loader is None or facts is None:
            return None
        if facts.kinds < _KINDS:
            raise NotJudged(f"only {facts.kinds} different rows came")
        if facts.shared < _SHARED or facts.again > _AGAIN:
            return None
        keras = seen.framework in reading.KERAS
        return Finding(
            message=f"{facts.readers} readers read the same stream, each of them all of it: the {facts.rows} rows that came are "
                    f"{facts.kinds} different ones.",
            remedy="Give each reader its own part, by the number that it is called with: `files[int(reader)::readers]`." if keras else
                   "Share it out in `__iter__`: `info = torch.utils.data.get_worker_info()`, and read `files[info.id::info.num_workers]` "
                   "where `info` is not None; or load with one worker.",
            site=facts.site or loader.site,
            evidence=[f"{facts.shared:.0%} of the rows came from more than one reader, {facts.again:.1%} from the same one again"])
