"""Several workers of a loader: whether they read a stream in parts, or each of them the whole of it; and what they draw from."""

from __future__ import annotations

import ast
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import ReaderFacts
from harness.frameworks.watch import parsed, tensors, torch_workers, trees
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession
    from harness.frameworks.watch.torch_data import Loader

_BATCHES, _SECOND = 400, 2
_LARGEST = 1 << 22


class Readers:
    """Told of the batches of loaders. In the first pass over a stream they come from its workers in turn."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._rows: dict[int, dict[int, dict[int, int]]] = {}

    def came(self, known: Loader, batch: Any) -> None:
        """A batch came; the first of a pass is counted as 1 by then."""
        from torch.utils.data import IterableDataset

        loader = known.ref()
        workers = getattr(loader, "num_workers", 0)
        number = known.batches - known.before
        if workers and known.begun == _SECOND and number == 1 and known.role == "train":
            self._session.noted("copied_generator", self._session.safely("generators of workers", torch_workers.copied, self._session,
                                                                         loader))
        if workers < 2 or known.begun != 1 or number > _BATCHES or not isinstance(known.dataset, IterableDataset):
            return
        if not getattr(loader, "in_order", True) or getattr(loader, "batch_size", None) is None:
            return
        read = self._rows.setdefault(id(known), {worker: {} for worker in range(workers)})
        own = read[(number - 1) % workers]
        for mark in _marks(batch):
            own[mark] = own.get(mark, 0) + 1
        if number % workers == 0 and number >= 2 * workers:
            self._tell(known, list(read.values()))

    def _tell(self, known: Loader, read: list[dict[int, int]]) -> None:
        came = sum(map(sum, (own.values() for own in read)))
        if not came:
            return
        everywhere = set().union(*read)
        again = came - sum(map(len, read))
        known.facts.readers = ReaderFacts(
            readers=len(read), rows=came, kinds=len(everywhere), again=again / came,
            shared=sum(sum(mark in own for own in read) > 1 for mark in everywhere) / len(everywhere),
            site=site(self._read_at(known.dataset)) or known.facts.site)

    def _read_at(self, dataset: Any) -> Place | None:
        """Where a stream of the script's own begins to read."""
        code = getattr(getattr(type(dataset), "__iter__", None), "__code__", None)
        if code is None or not self._session.sites.is_own(code.co_filename):
            return None
        inside = [node for node in ast.walk(parsed.tree(code.co_filename)) if isinstance(node, ast.FunctionDef)
                  and node.name == code.co_name and node.lineno <= code.co_firstlineno + len(node.decorator_list) <= (node.end_lineno or 0)]
        lines = [part.lineno for node in inside for part in parsed.within(node) if isinstance(part, ast.For | ast.While | ast.Return)]
        return code.co_filename, min(lines, default=code.co_firstlineno), code.co_name


def _marks(batch: Any) -> list[int]:
    """A number for each row of a batch, over all of its tensors; none where these do not agree how many there are."""
    parts = [found for part in trees.leaves(batch, tensors.is_tensor) if (found := tensors.array(part)) is not None and found.ndim]
    if not parts or len({len(part) for part in parts}) > 1 or sum(part.nbytes for part in parts) > _LARGEST:
        return []
    whole = [np.ascontiguousarray(part) for part in parts]
    marks = []
    for row in range(len(whole[0])):
        mark = 0
        for part in whole:
            mark = zlib.crc32(part[row].tobytes(), mark)
        marks.append(mark)
    return marks
