"""Walking the containers in which tensors travel: tuples, lists, dicts, model outputs, small objects."""

from __future__ import annotations

import copy
from collections import UserDict
from collections.abc import Callable, Mapping
from typing import Any

_DEPTH = 5


def leaves(value: Any, wanted: Callable[[Any], bool], depth: int = _DEPTH) -> list[Any]:
    """The wanted things in a value, in a fixed order. Looks into objects by their attributes, never into modules."""
    if wanted(value):
        return [value]
    if depth == 0 or value is None or isinstance(value, str | bytes | int | float | bool | type):
        return []
    if isinstance(value, Mapping):
        inner = list(value.values())
    elif isinstance(value, list | tuple):
        inner = list(value)
    elif hasattr(value, "data") and isinstance(value.data, dict):  # BatchEncoding and other UserDicts
        inner = list(value.data.values())
    elif hasattr(value, "__dict__") and not callable(value):
        inner = list(vars(value).values())
    else:
        return []
    return [leaf for item in inner for leaf in leaves(item, wanted, depth - 1)]


def mapped(value: Any, change: Callable[[Any], Any], depth: int = _DEPTH) -> Any:
    """A value with every leaf of its plain containers (list, tuple, named tuple, dict, `UserDict`, slice) changed; others are leaves."""
    if depth == 0:
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, change, depth - 1) for item in value))
    if type(value) in (list, tuple):
        return type(value)(mapped(item, change, depth - 1) for item in value)
    if type(value) is dict:
        return {key: mapped(item, change, depth - 1) for key, item in value.items()}
    if isinstance(value, UserDict):  # a tokenizer's BatchEncoding
        made = copy.copy(value)
        made.data = {key: mapped(item, change, depth - 1) for key, item in value.data.items()}
        return made
    if isinstance(value, slice):
        return slice(*(mapped(item, change, depth - 1) for item in (value.start, value.stop, value.step)))
    return change(value)
