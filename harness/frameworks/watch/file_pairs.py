"""Files of two folders that are read in pairs, a picture and its mask: do their names say that they belong together?"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import FilePairFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_LEAST, _MOST, _FILES, _SAME, _FITS = 12, 200, 100_000, 0.9, 0.5
_LISTS = ("listdir", "glob", "iglob", "rglob", "iterdir", "scandir")

Key = tuple[str, ...]


class FilePairs:
    """Hooks the opening of files."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._last: tuple[str, str] | None = None
        self._pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._names: dict[str, dict[str, Key]] = {}
        self._in_turn: dict[str, list[str]] = {}  # by folder, its files as they were read
        self._opened = 0

    def attach(self) -> None:
        """Hook it. `io.open` stays as it is: what `open` was before is pickled by that name, and this one by its own."""
        for owner in (builtins, Path):
            self._session.patches.replace(owner, "open", self._wrap)
        builtins.open.__module__ = "builtins"
        self._session.when_imported("tensorflow", self._hook)

    def _hook(self, tensorflow: Any) -> None:
        """TensorFlow reads files by itself, of lists that it is given."""
        self._session.patches.replace(tensorflow.data.Dataset, "from_tensor_slices", self._wrap_slices)

    def _wrap_slices(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def from_tensor_slices(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active and isinstance(tensors, tuple | dict):
                session.safely("lists of files", self._sliced, list(tensors.values() if isinstance(tensors, dict) else tensors))
            return original(tensors, *args, **kwargs)

        return from_tensor_slices

    def _sliced(self, parts: list[Any]) -> None:
        self.given([part for part in parts if _are_paths(part)])

    def _wrap(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def opened(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
            made = original(file, mode, *args, **kwargs)
            if self._opened < _MOST and isinstance(file, str | os.PathLike) and isinstance(mode, str) and "r" in mode and session.active:
                session.safely("a file", self._read, os.fspath(file))
            return made

        return opened

    def _read(self, path: Any) -> None:
        if not isinstance(path, str) or self._session.sites.place() is None:
            return
        with self._session.paused():
            whole = Path(path).absolute()
            folder, name = str(whole.parent), whole.name
            self._list(folder)
        if len(self._names[folder]) < _LEAST:
            return
        self._opened += 1
        self._in_turn.setdefault(folder, []).append(name)
        if self._last is not None and self._last[0] != folder:
            self._pairs.setdefault((self._last[0], folder), []).append((self._last[1], name))
        self._last = folder, name

    def given(self, lists: Iterable[Any]) -> None:
        """Two lists of paths are to be read side by side."""
        paths = [[Path(path).absolute() for path in part] for part in lists][:2]
        if len(paths) < 2 or len(paths[0]) != len(paths[1]):
            return
        folders = [{str(path.parent) for path in part} for part in paths]
        if any(len(part) != 1 for part in folders) or folders[0] == folders[1]:
            return
        one, other = folders[0].pop(), folders[1].pop()
        for folder in (one, other):
            self._list(folder)
        self._pairs[one, other] = [(a.name, b.name) for a, b in zip(*paths, strict=True)][:_MOST]

    def _list(self, folder: str) -> None:
        if folder not in self._names:
            with os.scandir(folder) as files:
                names = [file.name for file in itertools.islice(files, _FILES + 1)] if len(self._names) < _MOST else []
            self._names[folder] = _keys(names)

    def facts(self) -> FilePairFacts | None:
        """Of the first two folders whose names say which files belong together; None where there are none. Which of both comes first in a
        pair is not known: the order counts in which more belong together."""
        for one, other in self._pairs:
            found = [facts for folders in ((one, other), (other, one)) if (facts := self._of(*folders)) is not None]
            if found:
                fits = [facts for facts in found if facts.apart < _FITS * facts.pairs]
                return (fits or found)[0]
        return None

    def _of(self, one: str, other: str) -> FilePairFacts | None:
        first, second = self._names[one], self._names[other]
        known = [(first[a], second[b], a, b) for a, b in self._pairs.get((one, other), []) if a in first and b in second]
        shared = set(first.values()) & set(second.values())
        if len(known) < _LEAST or len(shared) < _SAME * max(len(first), len(second)):
            return None
        apart = [(a, b) for key, wanted, a, b in known if key != wanted]
        return FilePairFacts(folders=(Path(one).name, Path(other).name), pairs=len(known), apart=len(apart),
                             example=apart[0] if apart else None)

    def finish(self) -> None:
        """Enter what was found."""
        if any(as_text(names) for names in self._in_turn.values() if len(names) >= _LEAST):
            self._session.noted("text_order", in_text_order(self._session.script))
        found = self._session.observation.file_pairs = self.facts()
        if found is not None and found.apart:
            self._session.noted("listed", listed(self._session.script))


def _are_paths(part: Any) -> bool:
    if not isinstance(part, list | tuple | np.ndarray) or len(part) < _LEAST or not isinstance(part[0], str):
        return False
    try:
        return Path(part[0]).is_file()
    except OSError:
        return False  # a text, which is too long for the name of a file


def _keys(names: list[str]) -> dict[str, Key]:
    """By the name of a file what only it is called among the files of its folder: the words and numbers in it that not all of them have;
    nothing where two files have the same."""
    if not _LEAST <= len(names) <= _FILES:
        return {}
    words = {name: re.findall(r"[A-Za-z]+|\d+", name.split(".")[0]) for name in names}
    counts = Counter(word for parts in words.values() for word in set(parts))
    keys = {name: tuple(word.lstrip("0") or "0" for word in parts if counts[word] < len(names)) for name, parts in words.items()}
    return keys if len(set(keys.values())) == len(keys) else {}


def listed(script: Path) -> Place | None:
    """The first line that lists a folder without sorting what comes of it; where all are sorted, the first that is so by the names as text
    beside one that is not, or the first."""
    tree = parsed.tree(str(script))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "sorted"
              for part in ast.walk(node)}
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in inside
             and getattr(node.func, "attr", getattr(node.func, "id", "")) in _LISTS]
    if not lines:
        return in_text_order(script)
    return (str(script), min(lines), "<module>")


def in_text_order(script: Path) -> Place | None:
    """The first line that sorts what a folder lists, by the names as they are."""
    calls = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Call)]
    lists = {id(call) for call in calls if getattr(call.func, "attr", getattr(call.func, "id", "")) in _LISTS}
    lines = [call.lineno for call in calls if getattr(call.func, "id", "") == "sorted" and not call.keywords
             and any(id(part) in lists for part in ast.walk(call))]
    return (str(script), min(lines), "<module>") if lines else None


def as_text(names: list[str]) -> bool:
    """Whether names with numbers stand in the order of their letters, and not in that of the numbers."""
    numbers = [[int(part) for part in re.findall(r"\d+", name)] for name in names]
    if not all(numbers) or len({len(part) for part in numbers}) != 1 or len({re.sub(r"\d+", "#", name) for name in names}) != 1:
        return False
    return names == sorted(names) and numbers != sorted(numbers)
