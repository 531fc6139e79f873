"""A notebook as a script to be watched, and places in that script as places in the notebook."""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from harness.checks.base import Result
from harness.checks.tensor_facts import Site
from harness.errors import ScriptError

# Magics around code that runs as it is; what stands under any other one is no Python of the notebook's own.
_RUN = r"(time|timeit|capture|prun|diagnose)\b"
_CELL = re.compile(rf"\s*%%{_RUN}.*")
_LINE = re.compile(rf"^(\s*)%{_RUN}\s+(?!-)", re.MULTILINE)
_GIVEN = "from harness.notebooks.stand_in import display, get_ipython"
_RELATIVE = re.compile(r"(?!/)[\w.-]+(/[\w.-]+)+/?|[\w-]+\.\w{1,8}")


@dataclass(frozen=True)
class Cells:
    """The code cells of a notebook in its script: number (from 1) and first line of each, in order."""

    starts: tuple[tuple[int, int], ...]

    def placed(self, result: Result, script: Path, shown: str) -> Result:
        """A result whose place is in the notebook `shown`, where it was in its `script`."""
        finding = result.finding
        if finding is None or finding.site is None or finding.site.file != str(script):
            return result
        return msgspec.structs.replace(result, finding=msgspec.structs.replace(finding, site=self.site(finding.site, script, shown)))

    def site(self, known: Site, script: Path, shown: str) -> Site:
        """A place in the notebook `shown`, where it was in its `script`."""
        if known.file != str(script):
            return known
        number, first = max((start for start in self.starts if start[1] <= known.line), default=(1, 1))
        return msgspec.structs.replace(known, file=shown, cell=number, line=known.line - first + 1)


def as_script(path: Path) -> tuple[str, Cells]:
    """The code cells of a notebook as one percent script, with what Jupyter gives to all of them. Cells of magics are left out, since only
    IPython reads them, but not what is only timed or captured by one; see `stand_in` for other magics and shell lines.

    Raises `ScriptError` for what is no notebook, and for a cell that is no Python.
    """
    nbformat = _library("nbformat")
    try:
        found = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except Exception as error:  # noqa: BLE001 - nbformat raises many kinds for a file that is no notebook
        raise ScriptError(f"{path} is no notebook that nbformat can read ({type(error).__name__}); save it again as .ipynb") from None
    lines = [_GIVEN]
    starts: list[tuple[int, int]] = []
    for number, cell in enumerate((cell for cell in found.cells if cell.cell_type == "code"), start=1):
        magic = next((line for line in cell.source.splitlines() if line.strip()), "")
        if magic.lstrip().startswith("%%") and not _CELL.fullmatch(magic):
            continue
        tags = cell.metadata.get("tags", [])
        lines.append(f"# %% tags={list(tags)!r}" if tags else "# %%")
        starts.append((number, len(lines) + 1))
        code = _plain(cell.source)
        try:
            ast.parse("\n".join(code))
        except SyntaxError as error:
            raise ScriptError(f"{path}, cell {number}, line {error.lineno}: not valid Python ({error.msg}); mend it first") from None
        lines += code
        lines.append("")
    return "\n".join(lines) + "\n", Cells(tuple(starts))


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ScriptError(f"reading a notebook needs {error.name}, which is not installed: pip install nbformat ipykernel") from None


def _plain(source: str) -> list[str]:
    """The lines of a cell as Python alone would have them, as many as there were."""
    try:
        ast.parse(source)
    except SyntaxError:
        transformer = _library("IPython.core.inputtransformer2")
        before = source.splitlines()
        timed = "\n".join(f"# {line}" if _CELL.fullmatch(line) else _LINE.sub(r"\1", line) for line in before)
        lines: list[str] = transformer.TransformerManager().transform_cell(timed).splitlines()
        return lines + [""] * (len(before) - len(lines))
    return source.splitlines()


def folder_of(path: Path, text: str) -> Path:
    """Where a notebook with this code runs: in its own folder, as in Jupyter; in the current one, as papermill does, if more of the files
    that it names are there.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return path.parent
    named = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
             and _RELATIVE.fullmatch(node.value)}

    def there(folder: Path) -> int:
        return sum((folder / name).exists() for name in named)

    return max((path.parent, Path.cwd()), key=there)
