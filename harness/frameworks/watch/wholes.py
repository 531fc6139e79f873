"""Rows of ids beside what they were cut from: texts, and sequences that were brought to one length."""

from __future__ import annotations

import functools
import itertools
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.probe_facts import WholeFacts
from harness.frameworks.watch import baseline, tensors, written
from harness.frameworks.watch.sites import Place, names_of, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_PADDING = ("keras.utils", "keras.preprocessing.sequence", "keras._tf_keras.keras.utils", "keras._tf_keras.keras.preprocessing.sequence",
            "tf_keras.utils", "tf_keras.preprocessing.sequence", "tf_keras.api._v2.keras.utils",
            "tf_keras.api._v2.keras.preprocessing.sequence")
_SOURCES, _ROWS, _READ_S = 12, 4000, 2.0
_LEAST, _KNOWN = 200, 0.8  # rows to be judged; the share of them whose whole is known
_TRIED, _SAME, _DIFFERENT = 100, 0.95, 5
_PARTS = 16  # of a row that may be looked through for a text
_BEFORE = 5  # ids that a row may have before its text: marks, and a word or two about it
_WORDS, _NAMED = 3, 3  # words of a text; lists that a dataset may have been made of

Tokens = Sequence[Any]
# What a row of ids was made of, and what of that is left in it.
Whole = tuple[Tokens, Tokens]


@dataclass
class _Source:
    """`pairs` gives texts or sequences beside the ids made of them; read when it is asked for."""

    pairs: Callable[[], Iterable[tuple[Any, Any]]]
    place: Place | None


class Wholes:
    """Hooks `pad_sequences` of Keras; is told of `Dataset.map`, of tokenizers, and of the dataset that was trained on."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._sources: list[_Source] = []
        self._encoded: dict[int, list[tuple[Any, Any]]] = {}

    def attach(self) -> None:
        self._session.when_imported("transformers.tokenization_utils_base", lambda module: self._session.patches.replace(
            module.PreTrainedTokenizerBase, "__call__", self._wrap_tokenizer))
        for name in _PADDING:
            self._session.when_imported(name, self._hook)

    def _hook(self, module: Any) -> None:
        if hasattr(module, "pad_sequences"):
            self._session.patches.replace(module, "pad_sequences", self._wrap_padding)

    def _wrap_padding(self, original: Any) -> Any:
        def pad_sequences(sequences: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(sequences, *args, **kwargs)
            if self._session.active and isinstance(sequences, list | tuple):
                self._keep(lambda: zip(sequences, made, strict=True), self._session.sites.place())
            return made

        return pad_sequences

    def _wrap_tokenizer(self, original: Any) -> Any:
        def __call__(tokenizer: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            made = original(tokenizer, *args, **kwargs)
            if self._session.active and kwargs.get("truncation") and len(args) < 2 and not kwargs.get("text_pair"):
                self._session.safely("texts of a tokenizer", self._encodes, tokenizer, args[0] if args else kwargs.get("text"), made)
            return made

        return __call__

    def mapped(self, before: Any, after: Any) -> None:
        """`Dataset.map` has made ids of texts, row by row."""
        texts = [name for name in before.column_names if getattr(before.features[name], "dtype", "") == "string"]
        if len(before) == len(after) and len(texts) == 1 and "input_ids" in after.column_names and "input_ids" not in before.column_names:
            rows = min(len(before), _ROWS)
            self._keep(lambda: zip(before[:rows][texts[0]], after[:rows]["input_ids"], strict=True), None)

    def _encodes(self, tokenizer: Any, texts: Any, made: Any) -> None:
        """A tokenizer of transformers has made rows of ids of a text, or of several, and left out what was too long."""
        rows = made["input_ids"]
        if isinstance(texts, str):
            texts, rows = [texts], [rows] if isinstance(rows, list) else rows
        if not isinstance(texts, list) or not texts or not isinstance(texts[0], str) or len(rows) != len(texts):
            return
        if id(tokenizer) not in self._encoded:
            known = self._encoded[id(tokenizer)] = []
            self._keep(lambda: known, self._session.sites.place())
        known = self._encoded[id(tokenizer)]
        for text, row in zip(texts[: _ROWS - len(known)], rows, strict=False):
            known.append((functools.partial(_encode, tokenizer, text), row))

    def named(self, frames: list[FrameType]) -> None:
        """A training begins below these frames of the script's: texts, and tables of ids with as many rows, that have a name there."""
        values = list({id(value): value for frame in frames for value in names_of(frame).values()}.values())
        lists = [(len(value), found) for value in values if (found := _texts(value)) is not None and len(value) >= _LEAST]
        tables = [table for value in values if lists and not isinstance(value, type | ModuleType) and hasattr(value, "dtype")
                  and (table := tensors.array(value)) is not None and table.ndim == 2 and table.dtype.kind in "iu"]
        for (rows, texts), table in itertools.product(lists, tables):
            if rows == len(table):
                self._keep(functools.partial(zip, texts, table), None)

    def read(self, dataset: Any, kept: Callable[[], AbstractContextManager[Any]]) -> None:
        """A dataset that a loader reads rows of: of the script's own, which holds the texts that it makes ids of, or was made of a list of
        them that has a name. It is read again inside `kept()`."""
        def held_in(values: Iterable[Any]) -> list[list[str]]:
            lists = {id(value): value for value in values if isinstance(value, list | tuple) and len(value) == len(dataset)}
            return [found for value in lists.values() if (found := _texts(value)) is not None]

        known = held_in(getattr(dataset, "__dict__", {}).values())[:1]
        if not known and hasattr(dataset, "__len__") and len(dataset) >= _LEAST:
            known = held_in(value for frame in self._session.sites.frames() for value in names_of(frame).values())[:_NAMED]

        def pairs(texts: list[str]) -> Iterator[tuple[str, Any]]:
            with kept():
                yield from ((text, _ids(dataset[number])) for number, text in enumerate(texts))

        for texts in known:
            self._keep(functools.partial(pairs, texts), None)

    def _keep(self, pairs: Callable[[], Iterable[tuple[Any, Any]]], place: Place | None) -> None:
        if len(self._sources) < _SOURCES:
            self._sources.append(_Source(pairs, place))

    def measure(self, rows: list[Any], labels: Any) -> WholeFacts | None:
        """How well a plain baseline tells the labels `int[rows]` by what rows of ids were made of, and by what is left of it in them. None
        where that is not known, or all of it is left."""
        begun = time.monotonic()
        wanted, known, place = {_key(row) for row in rows}, dict[bytes, Whole](), None
        for source in self._sources:
            found = self._session.safely("rows before they were cut", self._read, source, wanted, begun + _READ_S) or {}
            known |= found
            place = place or (source.place if found else None)
        wholes = [(known[_key(row)], label) for row, label in zip(rows, labels, strict=True) if _key(row) in known]
        cut = sum(len(left) < len(whole) for (whole, left), _ in wholes)
        if len(wholes) < max(_LEAST, _KNOWN * len(rows)) or not cut:
            return None
        told = np.array([label for _, label in wholes])
        kept, whole = (self._told([pair[side] for pair, _ in wholes], told) for side in (1, 0))
        limit = max(len(_stripped(row)) for row in rows)
        begins = [list(left[:len(left) // 2]) == list(whole[:len(left) // 2]) for (whole, left), _ in wholes if len(left) < len(whole)]
        return WholeFacts(rows=len(wholes), cut=cut, limit=limit, longest=max(len(whole) for (whole, _), _ in wholes), kept=kept,
                          whole=whole, from_front=2 * sum(begins) < len(begins),
                          site=site(place or written.limited(limit, self._session.script)))

    @staticmethod
    def _told(rows: list[Tokens], labels: Any) -> float:
        return baseline.of_tokens([np.array([zlib.crc32(str(token).encode()) for token in row], dtype=np.int64) for row in rows], labels)

    def _read(self, source: _Source, wanted: set[bytes], until: float) -> dict[bytes, Whole]:
        pairs: list[tuple[Any, Any]] = []
        for whole, ids in itertools.islice(source.pairs(), _ROWS):
            row = np.asarray(ids) if isinstance(ids, list) else tensors.array(ids)
            if time.monotonic() > until or len(pairs) >= len(wanted):
                break
            if row is not None and row.ndim == 1 and row.dtype.kind in "iu" and _key(row) in wanted:
                pairs.append((whole, row))
        if not pairs:
            return {}
        if callable(pairs[0][0]):
            pairs = [(whole(), row) for whole, row in pairs if time.monotonic() < until]
        if not isinstance(pairs[0][0], str):
            return {_key(row): (list(whole), _left(list(whole), row.tolist())) for whole, row in pairs}
        filler = Counter(row[-1] for _, row in pairs if len(row) > 1 and row[-1] == row[-2]).most_common(1)
        texts = [(text, _unfilled(row, filler[0][0]) if filler else row, _key(row)) for text, row in pairs]
        level = _level([(text, row) for text, row, _ in texts])
        if level is None:
            return {}
        split, offset = level
        return {key: (split(text), split(text)[:max(0, len(row) - offset)]) for text, row, key in texts}


def _encode(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, truncation=False)["input_ids"])


def _left(whole: list[Any], row: list[Any]) -> list[Any]:
    """What is left of a sequence in a row: all where it fits in."""
    if len(whole) <= len(row):
        return whole
    return row


def _stripped(row: Any) -> Any:
    """A row without what fills it up: the same id again and again at one of its ends."""
    values = np.asarray(row, dtype=np.int64)
    other = np.flatnonzero(values != values[-1]) if len(values) > 1 and values[-1] == values[-2] else np.array([])
    values = values[: other[-1] + 1] if len(other) else values
    other = np.flatnonzero(values != values[0]) if len(values) > 1 and values[0] == values[1] else np.array([])
    return values[other[0]:] if len(other) else values


def _unfilled(row: Any, filler: Any) -> Any:
    other = np.flatnonzero(row != filler)
    return row[: other[-1] + 1] if len(other) else row


def _key(row: Any) -> bytes:
    return bytes(_stripped(row).tobytes())


def _level(pairs: list[tuple[str, Any]]) -> tuple[Callable[[str], list[str]], int] | None:
    """Whether each id stands for a word or for a character, and how many come before the first: the same ones have the same id."""
    for split in (str.split, list):
        for offset in range(_BEFORE):
            ids: dict[str, int] = {}
            same = total = 0
            for text, row in pairs[:_TRIED]:
                for token, number in zip(split(text), row.tolist()[offset:], strict=False):
                    total += 1
                    same += ids.setdefault(token, number) == number
            if total and same >= _SAME * total and len(set(ids.values())) >= _DIFFERENT:
                return split, offset
    return None


def _texts(value: Any) -> list[str] | None:
    """The first texts of a list of them, or of rows that hold one each."""
    if not isinstance(value, list | tuple) or not value or _text(value[0]) is None:
        return None
    found = [_text(row) for row in value[:_ROWS]]
    return [text for text in found if text is not None] if None not in found else None


def _text(row: Any) -> str | None:
    if isinstance(row, str):
        return row
    if _words(row):
        return " ".join(row)
    parts = row.values() if isinstance(row, dict) else row if isinstance(row, list | tuple) else ()
    texts = [part if isinstance(part, str) else " ".join(part) for part in itertools.islice(parts, _PARTS)
             if isinstance(part, str) or _words(part)]
    longer = [text for text in texts if len(text.split()) >= _WORDS]  # beside a name, a place, a kind
    return texts[0] if len(texts) == 1 else longer[0] if len(longer) == 1 else None


def _words(part: Any) -> bool:
    """Whether something is a text that was taken apart into words."""
    return isinstance(part, list) and len(part) >= _WORDS and all(isinstance(word, str) and word.split() == [word] for word in part)


def _ids(item: Any) -> Any:
    """The first row of whole numbers in an item of a dataset."""
    parts = item.values() if hasattr(item, "values") and callable(item.values) else item if isinstance(item, list | tuple) else [item]
    rows = (tensors.array(part) for part in parts if not isinstance(part, str))
    return next((row for row in rows if row is not None and row.ndim == 1 and row.dtype.kind in "iu" and len(row) > 1), None)
