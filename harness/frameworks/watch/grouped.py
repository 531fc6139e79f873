"""Random splits that take rows apart which belong together: whose they are stands in the script beside the split."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import GroupedFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.handing import REORDERS
from harness.frameworks.watch.sites import Place, names_of, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

# Words for whose a row is, in the plural too, with or without `_id`.
_WHOSE = re.compile(
    r"(^|_)(patient|subject|person|people|participant|speaker|user|customer|client|animal|rider|wearer|writer|author|signer|donor|owner|"
    r"group|recording|session|household|device|machine|engine|unit|station|video|clip|slide|pid|sid|uid|source|origin|individual|volunteer|"
    r"singer|player|athlete|driver|pilot|operator|technician|camera|microphone|sensor|vehicle|vessel|ship|boat|truck|pump|bearing|motor|"
    r"turbine|battery|cell_?line|specimen|biopsy|donor|colony|herd|cow|horse|bird|fish|mouse|tree|plot|field|farm|orchard|plate|reactor|"
    r"song|album|tape|take|trip|voyage|flight|journey|visit|file|account|merchant|family|hospital|clinic|scanner|site)(s|ren)?(_?(ids?|no|nr|number|idx))?$",
    re.IGNORECASE)
_LEAST, _MOST, _ROWS_EACH, _TABLES = 12, 200_000, 3, 4
_WHOLE = 0.99  # of the groups that have one label


class Grouped:
    """Hooks the splitters of scikit-learn, and `random_split` of PyTorch; looks at the first split that can be judged."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session

    def attach(self) -> None:
        self._session.when_imported("sklearn.model_selection._split", self._hook)
        self._session.when_imported("torch.utils.data.dataset", self._hook_torch)

    def by_hand(self) -> None:
        """Training begins: the rows may have been split by numbers of the script's own, two arrays that share them out between them."""
        for frame in self._session.sites.frames():
            if self._session.observation.grouped is None:
                named = names_of(frame)
                tables = [value for value in named.values() if hasattr(value, "columns") and hasattr(value, "iloc")]
                self._shared_out([*((name, array) for name, value in named.items() if (array := _plain(value)) is not None),
                                  *(pair for table in tables[:_TABLES] if len(table) <= _MOST for pair in _columns([table], len(table)))])

    def _shared_out(self, columns: list[tuple[str, np.ndarray[Any, Any]]]) -> None:
        for rows in {len(array) for name, array in columns if _WHOSE.search(name)}:
            numbers = [(name, array) for name, array in columns if array.dtype.kind in "iu" and 0 <= array.min() <= array.max() < rows]
            found = next(((name, one, other) for name, one in numbers for _, other in numbers
                          if len(other) <= len(one) < len(one) + len(other) == rows == len(np.union1d(one, other))), None)
            if found is not None:
                name, one, other = found
                beside = [(name, array) for name, array in columns if len(array) == rows]
                self._judge([array for name, array in beside if not _WHOSE.search(name)], beside, one, other, self._drawn(name))

    def _drawn(self, name: str) -> Place | None:
        """Where what the script calls so is drawn: on the line that binds the name, or in the function that this calls."""
        script = self._session.script
        tree = parsed.tree(str(script))
        bound = next((node for node in ast.walk(tree) if isinstance(node, ast.Assign) and name in {
            part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}), None)
        if bound is None:
            return None
        called = {name_of(part.func) for part in ast.walk(bound.value) if isinstance(part, ast.Call)}
        own = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in called]
        lines = [part.lineno for node in own for part in ast.walk(node) if isinstance(part, ast.Call) and name_of(part.func) in REORDERS]
        return str(script), min(lines, default=own[0].body[0].lineno if own else bound.lineno), "<module>"

    def _hook(self, module: Any) -> None:
        for owner in (module.BaseShuffleSplit, module.BaseCrossValidator):
            self._session.patches.replace(owner, "split", self._wrap)

    def _hook_torch(self, module: Any) -> None:
        # While torch is being imported the package has not taken the function over from its module yet.
        for owner in (module, sys.modules.get(module.__package__)):
            if "random_split" in vars(owner or object):
                self._session.patches.replace(owner, "random_split", self._wrap_torch)

    def _wrap(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def split(splitter: Any, X: Any, y: Any = None, groups: Any = None, **kwargs: Any) -> Iterator[Any]:  # noqa: N803
            frame = sys._getframe(1)
            for fitted, held in original(splitter, X, y, groups, **kwargs):
                known = session.observation.grouped is not None or groups is not None or not _shuffles(splitter)
                if session.active and not known:
                    session.safely("a split", self._split, frame, [X, y], fitted, held)
                yield fitted, held

        return split

    def _wrap_torch(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self._session

        def random_split(dataset: Any, *args: Any, **kwargs: Any) -> Any:
            parts = original(dataset, *args, **kwargs)
            if session.active and session.observation.grouped is None:
                session.safely("a split", self._split_by_torch, sys._getframe(1), dataset, parts)
            return parts

        return random_split

    def _split(self, frame: FrameType | None, given: list[Any], fitted: Any, held: Any) -> None:
        self._look(frame, [*_arrays(frame), *given], fitted, held)

    def _split_by_torch(self, frame: FrameType, dataset: Any, parts: list[Any]) -> None:
        """The labels of a `TensorDataset` are its last tensor; another dataset may hold what it likes."""
        if type(dataset).__name__ == "TensorDataset" and len(parts) > 1:
            self._look(frame, [dataset.tensors[-1].detach().cpu().numpy()], parts[0].indices, parts[1].indices)

    def _look(self, frame: FrameType | None, given: list[Any], fitted: Any, held: Any) -> None:
        stratify = _stratified(frame)
        while frame is not None and not self._session.sites.is_own(frame.f_code.co_filename):
            frame = frame.f_back
        one, other = np.asarray(fitted), np.asarray(held)
        rows = len(one) + len(other)
        if frame is None or rows > _MOST or not len(other):
            return
        labels = [column for name, column in _columns(given, rows) if not _WHOSE.search(name)]
        labels += [column for _, column in _columns([stratify], rows)] if stratify is not None else []
        place: Place = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        self._judge(labels, [*_columns(given, rows), *_named(frame, rows), *_beside(frame, rows)], one, other, place)

    def _judge(self, labels: list[Any], columns: list[tuple[str, Any]], one: Any, other: Any, place: Place | None) -> None:
        rows = len(one) + len(other)
        for name, whose in columns:
            groups = np.unique(whose) if _WHOSE.search(name) else np.zeros(0)
            if not _LEAST <= len(groups) <= rows / _ROWS_EACH:
                continue
            classes = next((found for column in labels if (found := _told(whose, column)) is not None), None)
            if classes is None:
                continue
            shared = float(np.isin(whose[other], whose[one]).mean())
            self._session.observation.grouped = GroupedFacts(name=name, groups=len(groups), rows=rows, held_rows=len(other), shared=shared,
                                                             labels=classes, site=site(place))
            return


def _plain(value: Any) -> np.ndarray[Any, Any] | None:
    """What has one dimension, of whole numbers, names or numbers."""
    found = tensors.array(value) if tensors.is_tensor(value) or isinstance(value, np.ndarray) else None
    return found if found is not None and found.ndim == 1 and _LEAST <= len(found) <= _MOST and found.dtype.kind in "iufbU" else None


def _shuffles(splitter: Any) -> bool:
    return "Group" not in type(splitter).__name__ and getattr(splitter, "shuffle", True) is not False


def _arrays(frame: FrameType | None) -> list[Any]:
    """What `train_test_split` was given, where it is that which asks for the split."""
    return list(frame.f_locals.get("arrays", ())) if frame is not None and frame.f_code.co_name == "train_test_split" else []


def _stratified(frame: FrameType | None) -> Any:
    """The labels by which `train_test_split` is to share rows out evenly."""
    return frame.f_locals.get("stratify") if frame is not None and frame.f_code.co_name == "train_test_split" else None


def _beside(frame: FrameType, rows: int) -> list[tuple[str, Any]]:
    """Columns of tables that the script knows where it splits their rows by numbers."""
    tables = [value for value in {**frame.f_globals, **frame.f_locals}.values() if hasattr(value, "columns") and hasattr(value, "iloc")]
    return [(name, column) for table in tables if len(table) == rows for name, column in _columns([table], rows)]


def _named(frame: FrameType, rows: int) -> list[tuple[str, Any]]:
    """What the script knows by a name where it splits."""
    known = {**frame.f_globals, **frame.f_locals}
    return [(name, column) for name, value in known.items() if _WHOSE.search(name) for _, column in _columns([value], rows)]


def _columns(given: list[Any], rows: int) -> list[tuple[str, np.ndarray[Any, Any]]]:
    """Columns of whole numbers, names or numbers, one for each row; of a table each by its name."""
    found = []
    for value in given:
        parts = [(str(name), value[name]) for name in value.columns] if hasattr(value, "columns") and hasattr(value, "iloc") else [
            (str(getattr(value, "name", "") or ""), value)]
        for name, part in parts:
            try:
                column = np.asarray(part) if len(part) == rows else np.zeros(0)
            except (TypeError, ValueError):
                continue
            if column.ndim == 1 and len(column) == rows and column.dtype.kind in "iufbUO" and not _holds_arrays(column):
                found.append((name, column.astype(str) if column.dtype.kind == "O" else column))
    return found


def _holds_arrays(column: np.ndarray[Any, Any]) -> bool:
    """Whether the places of a column are arrays themselves, which tell no group."""
    return column.dtype.kind == "O" and hasattr(column[0], "shape")


def _told(whose: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> int | None:
    """How many labels there are, where all rows of a group have the same one and several groups share each; else None."""
    _, group = np.unique(whose, return_inverse=True)
    kinds, label = np.unique(labels, return_inverse=True)
    pairs = np.unique(np.stack([group, label]), axis=1)
    counts = np.bincount(pairs[0])
    several = np.bincount(pairs[1]).min() if len(kinds) else 0
    return len(kinds) if len(kinds) > 1 and (counts == 1).mean() >= _WHOLE and several > 1 else None
