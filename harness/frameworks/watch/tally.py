"""Right answers that are counted over one loader and divided by the size of something else: read off a script's text.

Where it is the size of the loader's own dataset, the loader has to tell whether it goes over all of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from harness.checks.training_facts import TallyFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import site

_LOADER = re.compile(r"load|_dl$|^dl$|_iter$", re.IGNORECASE)
_PASSED = {"item", "float", "cpu", "numpy", "int", "detach"}
_WRAPPED = {"tqdm", "enumerate", "iter"}
_Scope = ast.FunctionDef | ast.Module


def facts(script: Path) -> TallyFacts | None:
    """Of the first such division. What is counted are rows, `(answers == labels).sum()`, over a loop; what it is divided by is
    the number of batches of what the loop is on, where its name speaks of a loader, the rows of another one, `len(other.dataset)`, or of
    the dataset that is its own."""
    tree = parsed.tree(str(script))
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))):
        nodes = list(parsed.within(scope))
        counted = dict(_counted(nodes))
        for node in nodes:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and ast.unparse(_bare(node.left)) in counted:
                loader, name = counted[ast.unparse(_bare(node.left))], ast.unparse(_bare(node.left))
                by = _size(node.right)
                batches = by == loader and bool(_LOADER.search(loader))
                own = by == f"{loader}.dataset"
                if batches or own or (by is not None and by.endswith(".dataset") and _other(by.removesuffix(".dataset"), loader, nodes)):
                    place = (str(script), node.lineno, getattr(scope, "name", "<module>"))
                    return TallyFacts(counted=name, loader=loader, by=f"len({by})", batches=batches, own=own, site=site(place))
    return None


def _counted(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names to which each turn of a loop adds a number of rows, and the loader that it is on."""
    for loop in nodes:
        if not isinstance(loop, ast.For):
            continue
        source = loop.iter
        while isinstance(source, ast.Call) and source.args and ast.unparse(source.func).rpartition(".")[2] in _WRAPPED:
            source = source.args[0]
        if not isinstance(source, ast.Name | ast.Attribute):
            continue
        for node in (inner for part in loop.body for inner in ast.walk(part)):
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _of_rows(node.value):
                yield ast.unparse(node.target), ast.unparse(source)


def _of_rows(value: ast.expr) -> bool:
    """`(a == b).sum()`, perhaps as a number of Python's, and no share of anything."""
    value = _bare(value)
    return (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "sum" and not value.args and any(
        isinstance(part, ast.Eq) for part in ast.walk(value.func.value))) or (
        isinstance(value, ast.Call) and ast.unparse(value.func) in ("torch.sum", "np.sum") and len(value.args) == 1
        and isinstance(value.args[0], ast.Compare))


def _bare(value: ast.expr) -> ast.expr:
    """Without what makes a number of Python's of a tensor."""
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in _PASSED:
            value = value.func.value
        elif isinstance(value.func, ast.Name) and value.func.id in _PASSED and len(value.args) == 1:
            value = value.args[0]
        else:
            break
    return value


def _size(value: ast.expr) -> str | None:
    """What the length is taken of."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "len" and len(value.args) == 1 and isinstance(
            value.args[0], ast.Name | ast.Attribute):
        return ast.unparse(value.args[0])
    return None


def _other(name: str, loader: str, nodes: list[ast.AST]) -> bool:
    """Whether a name is another loader: it is not assigned from this one, nor this one from it."""
    pairs = {(ast.unparse(node.targets[0]), part.id) for node in nodes if isinstance(node, ast.Assign) for part in ast.walk(node.value)
             if isinstance(part, ast.Name)}
    return name != loader and (name, loader) not in pairs and (loader, name) not in pairs
