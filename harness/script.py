"""Scripts in percent format: their cells, their parameters, and how values are put in.

Parameters go in by papermill's rule: a cell of assignments directly after the cell tagged `parameters`. In a running script the
assignments are added to the syntax tree instead of the text, so that every line keeps its number and a traceback is true.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from harness.catalog.schema import Value
from harness.errors import ScriptError

_MARKER = re.compile(r"^# %%(?P<title>[^\n]*)$")
_TAGS = re.compile(r"tags\s*=\s*\[(?P<tags>[^\]]*)\]")
_STAGE = re.compile(r"^\s*\[(?P<stage>\w+)\]\s*(?P<title>.*)$")


@dataclass(frozen=True)
class Cell:
    """A cell: first and last line (1-based, the marker included), its stage in brackets, title and tags."""

    first_line: int
    last_line: int
    stage: str
    title: str
    tags: tuple[str, ...]


def read(path: Path) -> str:
    """The text of a script. Raises `ScriptError` where there is none, or it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScriptError(f"cannot read {path}: {error.strerror}; give the path of a Python script") from None
    except UnicodeDecodeError as error:
        raise ScriptError(f"{path} is not UTF-8 text (byte {error.start}); is it really a Python script?") from None


def parse(text: str, path: Path | str) -> ast.Module:
    """The syntax tree. Raises `ScriptError` with the line where Python's grammar is broken."""
    try:
        return ast.parse(text, filename=str(path))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ScriptError(f"{path}:{line}: not valid Python ({getattr(error, 'msg', error)}); mend it first") from None


def cells(text: str) -> list[Cell]:
    """The percent cells of a script, in order; empty where it has no markers."""
    lines = text.splitlines()
    starts = [(number, match["title"]) for number, line in enumerate(lines, 1) if (match := _MARKER.match(line))]
    ends = [number - 1 for number, _ in starts[1:]] + [len(lines)]
    found = []
    for (first, marker), last in zip(starts, ends, strict=True) if starts else ():
        tags = _TAGS.search(marker)
        names = tuple(re.findall(r"[\"']([^\"']+)[\"']", tags["tags"])) if tags else ()
        title = _TAGS.sub("", marker).strip()
        stage = _STAGE.match(title)
        found.append(Cell(first, last, stage["stage"] if stage else "", stage["title"] if stage else title, names))
    return found


def parameters_cell(text: str) -> Cell | None:
    """The cell tagged `parameters`, if there is one."""
    return next((cell for cell in cells(text) if "parameters" in cell.tags), None)


def defaults(text: str, path: Path | str) -> dict[str, Value]:
    """Name and default of each parameter, in the script's order.

    Raises `ScriptError` where the parameters cell holds anything but `name = literal` lines.
    """
    cell = parameters_cell(text)
    if cell is None:
        return {}
    found: dict[str, Value] = {}
    for node in parse(text, path).body:
        if not cell.first_line <= node.lineno <= cell.last_line:
            continue
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
            raise ScriptError(f"{path}:{node.lineno}: the parameters cell may hold `name = value` lines only")
        try:
            value = ast.literal_eval(node.value)
        except ValueError:
            raise ScriptError(f"{path}:{node.lineno}: a parameter's default must be a number, text, True or False") from None
        if not isinstance(value, bool | int | float | str):
            raise ScriptError(f"{path}:{node.lineno}: a parameter's default must be a number, text, True or False")
        found[node.targets[0].id] = value
    return found


def compile_with(text: str, path: Path | str, values: dict[str, Value], change: Callable[[ast.Module], None] | None = None) -> CodeType:
    """Code of the script with `values` assigned right after its parameters cell; line numbers are the file's own. `change` may add to its
    tree before that is compiled.

    Raises `ScriptError` where there are values but no parameters cell.
    """
    tree = parse(text, path)
    if values:
        cell = parameters_cell(text)
        if cell is None:
            raise ScriptError(f"{path} has no cell tagged parameters, so -p has nowhere to go; add `# %% tags=[\"parameters\"]`")
        position = sum(1 for node in tree.body if node.lineno <= cell.last_line)
        injected = ast.parse("\n".join(f"{name} = {value!r}" for name, value in values.items())).body
        for node in injected:
            for part in ast.walk(node):
                if hasattr(part, "lineno"):
                    part.lineno = part.end_lineno = cell.last_line  # type: ignore[attr-defined]
        tree.body[position:position] = injected
    if change is not None:
        change(tree)
    return compile(tree, str(path), "exec", dont_inherit=True)
