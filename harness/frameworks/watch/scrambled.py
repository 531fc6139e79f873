"""Reshapes where axes should have been exchanged: numbers are counted off anew in the order in which they lie."""

from __future__ import annotations

import ast
import functools
import sys
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from harness.checks.model_facts import ScrambledFacts
from harness.frameworks.autograph import GENERATED
from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_CALLS, _PARTS = 20_000, 8
_OURS = str(Path(__file__).parent)
_AUTOGRAPH = "tensorflow/python/autograph/"


class Scrambled:
    """Hooks the functions that reshape, where the script's own code calls them."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._calls = 0
        self._open: tuple[weakref.ref[Any], ScrambledFacts] | None = None  # made by a reshape whose lengths leave open what it was for

    def of_torch(self, torch: Any) -> None:
        """Hook PyTorch's, and what takes arrays of NumPy and no mode sees."""
        self._session.patches.replace(torch, "from_numpy", self._wrap_taking)
        for name in ("view", "reshape"):
            self._session.patches.replace(torch.Tensor, name, self._wrap)
        self._session.patches.replace(torch.nn.functional, "conv1d", self._wrap_convolving)

    def of_keras(self, keras: Any, place_of: Callable[[Any], Place | None]) -> None:
        """Hook TensorFlow's, those of Keras 3, the layer, and what takes arrays of NumPy. `place_of`: where a layer was made."""
        tensorflow = sys.modules["tensorflow"]
        for owner, name in ((keras.Model, "fit"), (tensorflow.data.Dataset, "from_tensor_slices")):
            self._session.patches.replace(owner, name, self._wrap_taking)
        for owner in (sys.modules["tensorflow"], getattr(keras, "ops", None)):
            if hasattr(owner, "reshape"):
                self._session.patches.replace(owner, "reshape", self._wrap)
        self._session.patches.replace(keras.layers.Reshape, "__call__", functools.partial(self._wrap_layer, place_of=place_of))

    def _wrap_layer(self, original: Any, place_of: Callable[[Any], Place | None]) -> Any:
        session = self._session

        def __call__(layer: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            made = original(layer, *args, **kwargs)
            if session.active and session.observation.scrambled is None and (args or kwargs):
                session.safely("a reshape", self._look, next(iter((*args, *kwargs.values()))), made, place_of(layer))
            return made

        return __call__

    def _wrap(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def reshape(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if self._calls < _CALLS and session.active and session.observation.scrambled is None:
                self._calls += 1
                if self._own(sys._getframe(1)):
                    session.safely("a reshape", self._look, next(iter((*args, *kwargs.values()))), made)
            return made

        return reshape

    def _wrap_convolving(self, original: Any) -> Any:
        @functools.wraps(original)
        def conv1d(*args: Any, **kwargs: Any) -> Any:
            if self._open is not None and args and self._open[0]() is args[0] and self._session.active:
                # Along the second axis stand channels, which is where the last one was to go.
                self._session.observation.scrambled = self._session.observation.scrambled or self._open[1]
                self._open = None
            return original(*args, **kwargs)

        return conv1d

    def _wrap_taking(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def take(*args: Any, **kwargs: Any) -> Any:
            if self._calls < _CALLS and session.active and session.observation.scrambled is None:
                self._calls += 1
                caller: FrameType | None = sys._getframe(1)
                while caller is not None and _OURS in caller.f_code.co_filename:  # other hooks of the same function
                    caller = caller.f_back
                if self._own(caller):
                    session.safely("a reshaped array", self.came, (*args, *kwargs.values()))
            return original(*args, **kwargs)

        return take

    def came(self, given: Any) -> None:
        """A framework takes these. Methods of arrays cannot be hooked; but what `reshape` gives is a view of the array it was called on."""
        if self._session.observation.scrambled is not None:
            return
        for array in (part for one in given for part in (one if isinstance(one, tuple | list) and len(one) < _PARTS else (one,))):
            base = getattr(array, "base", None) if isinstance(array, np.ndarray) else None
            if not isinstance(base, np.ndarray) or base.size != array.size or base.dtype != array.dtype or base.ndim != array.ndim:
                continue
            if array.flags.c_contiguous and base.flags.c_contiguous and scrambles(base.shape, array.shape) == "exchange":
                place = _reshaped(self._session.script, array.ndim)
                if place is not None and self._session.sites.is_own(place[0]):
                    self._look(base, array, place)

    def _own(self, caller: FrameType | None) -> bool:
        """Whether the script's own code asks, or a copy of it that AutoGraph has made, which calls through AutoGraph."""
        while caller is not None and _AUTOGRAPH in caller.f_code.co_filename:
            caller = caller.f_back
        return caller is not None and (self._session.sites.is_own(caller.f_code.co_filename) or GENERATED in caller.f_code.co_filename)

    def _look(self, given: Any, made: Any, place: Place | None = None) -> None:
        before, after = _shape(given), _shape(made)
        how = scrambles(before, after)
        if how is not None:
            place = place or self._session.sites.place()
            facts = ScrambledFacts(how=how, before=before, after=after, site=site(place))
            if how == "exchange" and _may_group(before, after) and not _named(place):
                self._open = (weakref.ref(made), facts) if before[:1] == after[:1] else None
                return
            self._session.observation.scrambled = facts


def _may_group(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether the lengths may as well be those of neighbouring steps that are put side by side, or taken apart: 48 steps of 12 numbers are
    12 steps of 48."""
    changed = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
    return any(not min(pair) or max(pair) % min(pair) == 0 for pair in changed)


def _named(place: Place | None) -> bool:
    """Whether a reshape is written with the names of lengths only: what is computed, or left to be found, groups something."""
    if place is None:
        return False
    tree = parsed.tree(place[0])
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno <= place[1] <= (node.end_lineno or 0)
             and name_of(node.func) in ("reshape", "view", "Reshape")]
    names = [part for call in calls for given in call.args for part in ast.walk(given) if isinstance(part, ast.Name)]
    plain = not any(isinstance(part, ast.BinOp | ast.UnaryOp | ast.Constant) for call in calls for given in call.args
                    for part in _lengths(given))
    computed = {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp)
                for target in node.targets if isinstance(target, ast.Name)}
    return bool(calls) and plain and not computed & {name.id for name in names}


def _reshaped(script: Path, axes: int) -> Place | None:
    """The one `x.reshape(...)` of a script that gives so many lengths."""
    calls = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Call) and name_of(node.func) == "reshape"
             and isinstance(node.func, ast.Attribute)]
    lines = [call.lineno for call in calls
             if axes == sum(len(_lengths(given)) for given in call.args[1 if ast.unparse(call.func) == "np.reshape" else 0:])]
    return (str(script), lines[0], "<module>") if len(lines) == 1 else None


def _lengths(given: ast.expr) -> list[ast.expr]:
    return list(given.elts) if isinstance(given, ast.Tuple | ast.List) else [given]


def _shape(tensor: Any) -> list[int]:
    """The lengths of a tensor's axes, 0 where one is left open."""
    shape = getattr(tensor, "shape", ())
    if getattr(shape, "rank", 0) is None:
        return []
    return [int(size) if size is not None else 0 for size in shape]


def scrambles(before: Sequence[int], after: Sequence[int]) -> Literal["exchange", "rows", "split", "merge"] | None:
    """What a reshape was to do that takes an exchange of axes; None for any other. A reshape leaves numbers in their order.

    `exchange`: the same axes in another order. `rows`: [parts, rows, size] to [rows, parts * size]. `merge` of heads: [rows, heads, steps,
    size] to [rows, steps, heads * size], `split`: the other way round; with as many heads as steps the lengths do not tell.
    """
    if len(before) == len(after) > 2:
        wide, made = ([size for size in shape if size != 1] for shape in (before, after))
        return "exchange" if wide != made and sorted(wide) == sorted(made) else None
    if len(before) == len(after) + 1 == 3:
        parts, rows, size = before
        return "rows" if 1 < parts < rows and size > 1 and list(after) == [rows, parts * size] else None
    if len(before) == len(after) + 1 == 4:
        rows, heads, steps, size = before
        whole, kept, joined = after
        how: Literal["split", "merge"] = "merge"
    elif len(before) + 1 == len(after) == 4:
        rows, heads, steps, size = after
        whole, kept, joined = before
        how = "split"
    else:
        return None
    alike = rows == whole and steps == kept and heads * size == joined
    return how if alike and min(heads, steps, size) > 1 and heads != steps else None
