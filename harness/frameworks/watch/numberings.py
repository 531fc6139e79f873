"""Values that are numbered, column by column (`pandas.factorize`, `LabelEncoder`): which numbering a model is trained on, and which one an
evaluation asks about."""

from __future__ import annotations

import itertools
import sys
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.evaluation_facts import NumberedFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_MOST_ROWS, _MOST = 500_000, 24  # of one numbering, and numberings
_COLUMNS, _KEPT = 16, 4000  # of what a model is given
_BATCHES = 256
_LEAST, _SHARED = 50, 3  # rows of an evaluation, and values that both have


@dataclass
class _Numbering:
    kind: str
    codes: list[int]
    numbers: dict[Any, int]  # value -> code
    site: Site | None
    counts: Counter[int] = field(default_factory=Counter)


class Numberings:
    """Keeps the numberings that a script makes, and the first ids of each column that a model is given."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._made: list[_Numbering] = []
        # By how many columns a call is given, and the place among them: parts of a model are called by themselves as well.
        self._trained: dict[tuple[int, int], list[int]] = {}
        self._held: dict[tuple[int, int], deque[list[int]]] = {}  # batch by batch, the newest of them

    def attach(self) -> None:
        """Hook pandas and scikit-learn."""
        self._session.when_imported("pandas", self._hook_pandas)
        self._session.when_imported("sklearn.preprocessing", self._hook_sklearn)

    def _hook_pandas(self, pandas: Any) -> None:
        replace = self._session.patches.replace
        replace(pandas, "factorize", self._wrap_factorize)
        for owner in (pandas.Series, pandas.Index):
            replace(owner, "factorize", self._wrap_factorize)
        accessor = pandas.core.arrays.categorical.CategoricalAccessor
        codes = vars(accessor)["codes"]
        accessor.codes = property(self._wrap_codes(codes.fget), doc=codes.__doc__)
        self._session.patches.calling(lambda: setattr(accessor, "codes", codes))

    def _hook_sklearn(self, module: Any) -> None:
        for name in ("fit_transform", "transform"):
            self._session.patches.replace(module.LabelEncoder, name, self._wrap_encoder)

    def _by_script(self) -> bool:
        # pandas numbers rows all the time, for its own ends.
        return self._session.active and len(self._made) < _MOST and self._session.sites.is_own(sys._getframe(2).f_code.co_filename)

    def _wrap_factorize(self, original: Any) -> Any:

        def factorize(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if self._by_script():
                self._session.safely("numbers of values", self._numbered, "factorize", made[0], made[1])
            return made

        return factorize

    def _wrap_codes(self, original: Any) -> Any:

        def codes(accessor: Any) -> Any:
            made = original(accessor)
            if self._by_script():
                self._session.safely("numbers of categories", self._numbered, "category", made, accessor.categories)
            return made

        return codes

    def _wrap_encoder(self, original: Any) -> Any:

        def encode(encoder: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(encoder, *args, **kwargs)
            if self._by_script():
                self._session.safely("numbers of labels", self._numbered, "LabelEncoder", made, encoder.classes_)
            return made

        return encode

    def _numbered(self, kind: str, codes: Any, values: Any) -> None:
        if len(codes) > _MOST_ROWS or len(codes) < _LEAST:
            return
        plain = [int(code) for code in np.asarray(codes)]
        numbers = {value: code for code, value in enumerate(list(values))}
        self._made.append(_Numbering(kind, plain, numbers, self._session.sites.here(), Counter(plain)))

    def trained(self, given: Sequence[Any]) -> None:
        """A training step runs a model on these."""
        for place, column in self._columns(given):
            known = self._trained.setdefault(place, [])
            if len(known) < _KEPT:
                known.extend(column[: _KEPT - len(known)].tolist())

    def held(self, given: Sequence[Any]) -> None:
        """An evaluation does."""
        if self._trained:
            for place, column in self._columns(given):
                self._held.setdefault(place, deque(maxlen=_BATCHES)).append(column[:_MOST_ROWS].tolist())

    def _columns(self, given: Sequence[Any]) -> list[tuple[tuple[int, int], np.ndarray[Any, Any]]]:
        """The columns of whole numbers in what a model is given, each with their number and its place among them."""
        if not self._made:
            return []
        arrays = [array for value in given if (array := tensors.array(value)) is not None and array.dtype.kind in "iu"
                  and array.ndim in (1, 2) and array[:1].size <= _COLUMNS]
        columns = [column for array in arrays for column in array.reshape(len(array), -1).T]
        return [((len(columns), place), column) for place, column in enumerate(columns)]

    def facts(self) -> NumberedFacts | None:
        """None where no column of the evaluation is a numbering of its own, or where that agrees with the training's."""
        for place, held in self._held.items():
            for other in self._made:
                own = self._own(place, other) if _is(other, held) else None
                if own is None:
                    continue
                shared = own.numbers.keys() & other.numbers.keys()
                moved = sum(own.numbers[value] != other.numbers[value] for value in shared)
                if len(shared) >= _SHARED and 2 * moved > len(shared):
                    return NumberedFacts(kind=other.kind, rows=len(other.codes), shared=len(shared), moved=moved, site=other.site,
                                         trained_site=own.site)
        return None

    def _own(self, place: tuple[int, int], other: _Numbering) -> _Numbering | None:
        """The numbering that the column is trained on: one that it can be a part of, while it cannot be one of the `other`."""
        trained = self._trained.get(place, [])
        if len(trained) < _LEAST or _part(other, trained):
            return None
        return next((made for made in self._made if made is not other and made.kind == other.kind and _part(made, trained)), None)


def _is(made: _Numbering, held: Sequence[list[int]]) -> bool:
    """Whether ids, from one of these batches on, are all that were numbered, in any order, or the first of them, in that order."""
    for first in range(len(held)):
        ids: list[int] = []
        for batch in itertools.islice(held, first, None):
            ids.extend(batch)
            if len(ids) >= len(made.codes):
                break
        if len(ids) == len(made.codes) and Counter(ids) == made.counts:
            return True
        if len(ids) >= _LEAST and len(made.codes) >= _LEAST and made.codes[: len(ids)] == ids[: len(made.codes)]:
            return True
    return False


def _part(made: _Numbering, trained: list[int]) -> bool:
    """Whether the first ids of a training may be drawn from these, each row once."""
    return Counter(trained[: len(made.codes)]) <= made.counts
