"""Where in the user's own code something happened."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from harness.checks.tensor_facts import Site
from harness.frameworks.autograph import GENERATED
from harness.frameworks.watch import parsed

HARNESS = str(Path(__file__).resolve().parents[2])
_LIBRARIES = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})

Place = tuple[str, int, str]
Stack = tuple[Place, ...]


class Sites:
    """Tells the user's own frames, the script's file and modules beside it, from those of libraries and of the harness."""

    def __init__(self, script: Path | str) -> None:
        self.script = Path(script)
        self._script = str(script)
        self._folder = str(Path(script).resolve().parent) + "/"
        self._own: dict[str, bool] = {self._script: True}

    def is_own(self, filename: str) -> bool:
        """Whether a code object's file is the user's."""
        known = self._own.get(filename)
        if known is None:
            known = self._own[filename] = self._look(filename)
        return known

    def _look(self, filename: str) -> bool:
        if filename.startswith("<") or GENERATED in filename:
            return False
        path = str(Path(filename).resolve())
        if path == str(Path(self._script).resolve()):
            return True
        foreign = path.startswith((HARNESS + "/", *_LIBRARIES)) or "/site-packages/" in path or "/dist-packages/" in path
        return path.startswith(self._folder) and not foreign

    def place(self, skip: Any = None) -> Place | None:
        """File, line and function of the innermost own frame; cheap.

        `skip`: an object under construction, whose own `__init__` frames are passed over, so that the place is where it is built.
        """
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if self.is_own(code.co_filename) and not (skip is not None and _constructs(frame, skip)):
                return code.co_filename, frame.f_lineno, code.co_name
            if GENERATED in code.co_filename and skip is None:
                return self._rewritten()
            frame = frame.f_back
        return None

    def _rewritten(self) -> Place | None:
        """The innermost own line where AutoGraph runs a copy of the user's function out of a file that it has generated."""
        from tensorflow.python.util import tf_stack

        frames = ((frame.filename, frame.lineno, frame.name) for frame in reversed(tf_stack.extract_stack()))
        return next((frame for frame in frames if self.is_own(frame[0])), None)

    def of_thread(self, thread: int) -> Place | None:
        """The innermost own frame of another thread, by its identifier, as it runs now."""
        frame = sys._current_frames().get(thread)
        while frame is not None:
            if self.is_own(frame.f_code.co_filename):
                return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
            frame = frame.f_back
        return None

    def origin(self, values: list[int], skip: Any = None) -> Place | None:
        """As `place`, but out of every function that was itself given one of these values: the frame that they come from."""
        frame: FrameType | None = sys._getframe(1)
        found = None
        while frame is not None:
            code = frame.f_code
            if self.is_own(code.co_filename) and not (skip is not None and _constructs(frame, skip)):
                found = code.co_filename, frame.f_lineno, code.co_name
                given = [frame.f_locals.get(name) for name in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]]
                if not any(type(value) is int and value in values for value in given):
                    break
            frame = frame.f_back
        return found

    def decided(self, *, value: Any) -> Place | None:
        """As `place`, but where the line there only hands on an argument that is this very object, the line that gave it."""
        frame: FrameType | None = sys._getframe(1)
        found = None
        while frame is not None:
            code = frame.f_code
            if self.is_own(code.co_filename):
                found = code.co_filename, frame.f_lineno, code.co_name
                given = {name for name in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount] if frame.f_locals.get(name) is value}
                if not given & set(re.findall(r"\w+", linecache.getline(code.co_filename, frame.f_lineno))):
                    break
            frame = frame.f_back
        return found

    def stack(self) -> tuple[Place, ...]:
        """File, line and function of every own frame, innermost first: what tells one call of a helper from another."""
        return tuple((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name) for frame in self.frames())

    def frames(self) -> list[FrameType]:
        """Every own frame, innermost first; not to be kept."""
        found = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self.is_own(frame.f_code.co_filename):
                found.append(frame)
            frame = frame.f_back
        return found

    def inside(self, file: str) -> Place | None:
        """As `place`, but no further out than the first frame of a file: what runs below it."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != file:
            if self.is_own(frame.f_code.co_filename):
                return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
            frame = frame.f_back
        return None

    def direct(self, skip: Any = None) -> Place | None:
        """The innermost frame that is neither the harness's nor the dispatch of torch, where that one is the user's own.

        `skip`: an object under construction, whose own `__init__` frames are passed over.
        """
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if skip is not None and _constructs(frame, skip):
                frame = frame.f_back
                continue
            if self.is_own(code.co_filename):
                return code.co_filename, frame.f_lineno, code.co_name
            if not code.co_filename.startswith(HARNESS) and not code.co_filename.endswith(("torch/overrides.py", "torch/_tensor.py")):
                return None
            frame = frame.f_back
        return None

    def here(self, skip: Any = None) -> Site | None:
        """The innermost own frame as a `Site`, None where no own code is running."""
        return site(self.place(skip))


def names_of(frame: FrameType) -> dict[str, Any]:
    """What the names of a frame, local and global, stand for now. Python keeps a snapshot of a function's locals with its frame, which
    would hold on to a step's tensors until the next is taken: it is emptied."""
    held = frame.f_locals
    names = {**frame.f_globals, **held}
    if type(held) is dict and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        held.clear()
    return names


def names_in(frames: Iterable[FrameType], script: Path) -> dict[str, Any]:
    """What the names of the script's own frames stand for, those of the innermost first."""
    named: dict[str, Any] = {}
    for frame in frames:
        if frame.f_code.co_filename == str(script):
            named |= {name: value for name, value in names_of(frame).items() if name not in named}
    return named


def _constructs(frame: FrameType, made: Any) -> bool:
    code = frame.f_code
    if not code.co_argcount or code.co_name not in ("__init__", "__post_init__"):
        return False
    return frame.f_locals.get(code.co_varnames[0]) is made


def site(place: Place | None) -> Site | None:
    """A place with its source line."""
    if place is None:
        return None
    return Site(file=place[0], line=place[1], source=linecache.getline(place[0], place[1]).strip(), function=place[2])


def kept(stack: Iterable[Place]) -> Site | None:
    """Of own frames, innermost first, the first that keeps what was made: a helper's `return` only hands it on."""
    return next((found for place in stack if (found := site(place)) is not None and not found.source.startswith("return ")), None)


def keywords(place: Place | None) -> dict[str, Place]:
    """Where each keyword of the calls at a place is written: a call may be longer than a screen. Of nested calls the inner ones count.
    Those of `**settings` are where the dictionary is written, if that is one place."""
    if place is None:
        return {}
    tree = parsed.tree(place[0])
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno <= place[1] <= (node.end_lineno or 0)]
    calls.sort(key=lambda node: node.lineno - (node.end_lineno or 0))
    found: dict[str, Place] = {}
    for word in (word for call in calls for word in call.keywords):
        written = {word.arg: word.value} if word.arg else _entries(tree, word.value)
        found |= {name: (place[0], value.lineno, place[2]) for name, value in written.items()}
    return found


def _entries(tree: ast.Module, value: ast.expr) -> dict[str, ast.expr]:
    """What `**value` spells out: the entries of a dictionary that is written out, there or where its name is bound once: a variable, an
    attribute of a class or object (`**self.settings`), an entry of another dictionary (`**CONFIG["training"]`)."""
    if isinstance(value, ast.Dict):
        return {key.value: entry for key, entry in zip(value.keys, value.values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        return {word.arg: word.value for word in value.keywords if word.arg}
    key = value.slice.value if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant) else None
    name = getattr(value, "id", getattr(value, "attr", key))
    spelt = [found for made in _bound(tree, name) if (found := _entries(tree, made))] if isinstance(name, str) else []
    return spelt[0] if len(spelt) == 1 else {}


def _bound(tree: ast.Module, name: str) -> list[ast.expr]:
    """What is written down under a name: a variable, an attribute, a dictionary's key, an argument; of a dataclass its field's default."""
    found: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [node.value for target in targets if getattr(target, "id", getattr(target, "attr", None)) == name]
        elif isinstance(node, ast.Dict):
            found += [entry for key, entry in zip(node.keys, node.values, strict=True) if getattr(key, "value", None) == name]
        elif isinstance(node, ast.keyword) and node.arg == name:
            found.append(node.value)
    made = [_of_field(value) for value in found if value is not None]
    return [value for value in made if isinstance(value, ast.Dict | ast.Call)]


def _of_field(value: ast.expr) -> ast.expr:
    """The dictionary that `field(default_factory=lambda: ...)` makes; else the value itself."""
    factory = next((word.value for word in value.keywords if word.arg == "default_factory"), None) if isinstance(value, ast.Call) else None
    return factory.body if isinstance(factory, ast.Lambda) else value
