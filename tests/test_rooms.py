"""Imports between the rooms go one way, and no framework is imported when a module of the harness is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from harness.paths import ROOT

# From the top down: a room may import those below it, and itself.
ROOMS = ("__main__", "cli", "magic", "live", "site", "notebooks", "report", "diagnosis", "runs", "child", "watch", "checks", "evidence",
         "frameworks", "process", "script", "catalog", "paths", "errors")
HEAVY = {"torch", "tensorflow", "transformers", "datasets", "evaluate", "numpy", "keras", "tf_keras", "papermill", "nbformat", "rich",
         "babel", "ipykernel"}
# Records and one-way helpers that lower rooms share with higher ones.
ALLOWED = {("catalog", "script"), ("process", "frameworks")}
FILES = sorted((ROOT / "harness").rglob("*.py"))


def room(module: str) -> str:
    if module.startswith("harness.frameworks.watch"):
        return "watch"
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports(tree: ast.AST, *, everywhere: bool) -> Iterator[str]:
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ([f"harness.{alias.name}" for alias in node.names] if node.module == "harness" else [node.module])


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path) -> None:
    parts = path.relative_to(ROOT / "harness").parts
    own = "watch" if parts[:2] == ("frameworks", "watch") else parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for name in imports(ast.parse(path.read_text()), everywhere=True):
        if name.startswith("harness.") and room(name) in ROOMS and (own, room(name)) not in ALLOWED:
            assert ROOMS.index(room(name)) >= ROOMS.index(own), f"{own} imports {name}"


# The watcher's torch modules are imported on the child side only, once the watched script has imported torch itself.
LIGHT = [path for path in FILES if path.parent.name != "watch"]


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_framework_at_import(path) -> None:
    assert not {name.split(".")[0] for name in imports(ast.parse(path.read_text()), everywhere=False)} & HEAVY


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short(path) -> None:
    assert len(path.read_text().splitlines()) <= 400
