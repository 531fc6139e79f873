"""A script's text as Python's own tree, parsed once."""

from __future__ import annotations

import ast
import functools
import linecache


@functools.lru_cache(maxsize=32)
def tree(file: str) -> ast.Module:
    """The tree of a file; an empty one where it is not there or is no Python."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])
