"""Arguments whose value is the default of one of a script's own options."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place


def of(argument: str, script: Path) -> Place | None:
    """Where `argparse` is told the default that a call of the script's gives as this argument, `weight_decay=args.decay`; None where the
    option was given when the script was called, or there is no such line."""
    tree = parsed.tree(str(script))
    words = [word.value for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords if word.arg == argument]
    names = {value.attr for value in words if isinstance(value, ast.Attribute)}
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of(node.func) == "add_argument"):
        flags = [flag.value for flag in node.args if isinstance(flag, ast.Constant) and isinstance(flag.value, str)]
        given = any(word == flag or word.startswith(f"{flag}=") for flag in flags for word in sys.argv[1:])
        has_default = any(word.arg == "default" for word in node.keywords)
        if has_default and not given and any(flag.lstrip("-").replace("-", "_") in names for flag in flags):
            return str(script), node.lineno, "<module>"
    return None
