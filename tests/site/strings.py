"""Every English text that the generated parts of the site hand to `words`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from harness.catalog.load import everything
from harness.catalog.schema import STAGES
from harness.paths import ROOT

_CALLED = {"words", "said"}


def literals() -> Iterator[str]:
    """First arguments of calls to `words`, and the tuples of names that are put through it."""
    for path in sorted((ROOT / "harness" / "site").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLED and node.args:
                if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                    yield node.args[0].value
            elif isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Call) and isinstance(node.generators[0].iter, ast.Tuple) and (
                    isinstance(node.elt.func, ast.Name) and node.elt.func.id in _CALLED):
                yield from (item.value for item in node.generators[0].iter.elts if isinstance(item, ast.Constant))


def of_the_catalogue() -> Iterator[str]:
    """Texts of `bug.toml` that pages show, and names of stages and variants."""
    yield from (*STAGES, "broken", "fixed", "Exercise (notebook)", "Walkthrough (executed notebook)")
    for bug in everything():
        yield from (parameter.help for parameter in bug.file.parameters.values())
        for message in bug.file.messages:
            yield message.line
            yield message.note


def everything_said() -> list[str]:
    """All of them, once each."""
    return sorted({text for text in (*literals(), *of_the_catalogue()) if text and not text.endswith(".py")})
