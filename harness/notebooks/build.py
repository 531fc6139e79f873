"""Scripts in percent format -> notebooks. Pure: nothing is executed here."""

from __future__ import annotations

import hashlib
import sys
from typing import Any

from harness import script
from harness.script import Cell

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def source(text: str, cell: Cell) -> str:
    """The code of a cell: its lines without the marker and without blank lines around them."""
    return "\n".join(text.splitlines()[cell.first_line:cell.last_line]).strip("\n")


def notebook(text: str, cells: list[Cell] | None = None) -> Any:
    """An nbformat 4 notebook: one code cell for each percent cell, with its tags, and its stage and title as metadata."""
    from nbformat.v4 import new_notebook

    found = [code(text, cell) for cell in (script.cells(text) if cells is None else cells)]
    version = ".".join(map(str, sys.version_info[:2]))
    return new_notebook(cells=found, metadata={"kernelspec": KERNEL, "language_info": {"name": "python", "version": version}})


def code(text: str, cell: Cell) -> Any:
    """A code cell. Its id comes of its text, so that the same script gives the same notebook."""
    from nbformat.v4 import new_code_cell

    content = source(text, cell)
    metadata: dict[str, Any] = {"zoo": {"stage": cell.stage, "title": cell.title, "line": cell.first_line + 1}}
    if cell.tags:
        metadata["tags"] = list(cell.tags)
    return new_code_cell(content, id=identity(f"{cell.first_line}\n{content}"), metadata=metadata)


def markdown(content: str) -> Any:
    """A Markdown cell, its id made of its text."""
    from nbformat.v4 import new_markdown_cell

    return new_markdown_cell(content, id=identity(content))


def identity(content: str) -> str:
    """A cell id (nbformat 4.5)."""
    return hashlib.sha256(content.encode()).hexdigest()[:12]
