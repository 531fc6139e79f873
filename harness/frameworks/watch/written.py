"""Where a script writes something, read off its text: an attribute of a class, a column that a function makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harness.checks.raised import LABELS
from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place, Sites

_LIMITS = ("max_length", "maxlen", "output_sequence_length", "model_max_length")
_SMOOTHS = ("rolling", "convolve", "correlate", "uniform_filter1d", "gaussian_filter1d", "savgol_filter", "filtfilt", "avg_pool1d")
_HELD = re.compile(r"(^|_)(val|valid|validation|test|held|holdout|dev)(_|$|\d)", re.IGNORECASE)
_GROWS = ("append", "extend")
_SPECIAL = 2  # tokens that stand at the ends of a row beside its text


def attribute(owner: type, name: str, sites: Sites, *, computed: bool = False) -> Place | None:
    """The line of a class of the script's own that first assigns `self.name`; `computed`: only where that is more than an argument kept."""
    file = next((made.__code__.co_filename for made in vars(owner).values() if hasattr(made, "__code__")), None)
    tree = parsed.tree(file) if file is not None and sites.is_own(file) else None
    if file is None or tree is None:
        return None
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == owner.__name__]
    kept = {id(target) for written in classes for node in ast.walk(written)
            if computed and isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) for target in node.targets}
    lines = [node.lineno for written in classes for node in ast.walk(written)
             if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store) and id(node) not in kept]
    return (file, min(lines), owner.__name__) if lines else None


def column(code: Any, names: Iterable[str], sites: Sites, *, first: bool = False) -> Place | None:
    """The last (or `first`) line of a function of the script's own that gives a value to one of these names: a key, an argument or a
    variable. Where that is but another name, the line on which something is last written into that."""
    tree = parsed.tree(code.co_filename) if sites.is_own(code.co_filename) else None
    wanted = set(names)
    made = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)
            and _begins(node) == code.co_firstlineno] if tree is not None else []
    found = [(line, value) for node in made for part in ast.walk(node) for line, name, value in _given(part) if name in wanted]
    if not found:
        return None
    line, value = (min if first else max)(found, key=lambda entry: entry[0])
    if isinstance(value, ast.Name):
        line = max((into for node in made for part in ast.walk(node) for into in _writes(part, value.id)), default=line)
    return code.co_filename, line, code.co_name


def filler(place: Place | None) -> Place | None:
    """Where a class says what its rows are filled up with, `label_pad: int = 0`, of a line of one of its methods that takes it from there:
    `labels + [self.label_pad] * gap`."""
    tree = parsed.tree(place[0]) if place is not None else None
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)] if tree is not None else []
    for written in classes:
        names = {node.elts[0].attr for node in ast.walk(written) if isinstance(node, ast.List) and len(node.elts) == 1
                 and place is not None and node.lineno == place[1] and isinstance(node.elts[0], ast.Attribute)}
        said = [node for node in written.body if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", None) in names
                and isinstance(node.value, ast.Constant)]
        if place is not None and said:
            return place[0], said[0].lineno, written.name
    return None


def _writes(node: ast.AST, name: str) -> Iterator[int]:
    """The line of a node that puts something into what a name stands for: `name[i] = ...`, `name.append(...)`."""
    put: ast.expr | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        put = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS:
        put = node.func.value
    if isinstance(put, ast.Name) and put.id == name and hasattr(node, "lineno"):
        yield node.lineno


def asked(code: Any, names: Iterable[str], sites: Sites) -> list[str]:
    """Those of these keys that a function of the script's own takes out of something to make use of: `weights = batch.pop("weight", None)`,
    and not `batch.pop("weight", None)` alone, which is rid of it."""
    tree = parsed.tree(code.co_filename) if sites.is_own(code.co_filename) else None
    parts = [part for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda) and _begins(node) == code.co_firstlineno
             for part in ast.walk(node)] if tree is not None else []
    alone = {id(part.value) for part in parts if isinstance(part, ast.Expr)}
    keys = {key.value for part in parts if id(part) not in alone and (key := _key(part)) is not None}
    return [name for name in names if name in keys]


def _key(node: ast.AST) -> ast.Constant | None:
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.slice if isinstance(node.slice, ast.Constant) else None
    taken = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop") and node.args
    return node.args[0] if isinstance(node, ast.Call) and taken and isinstance(node.args[0], ast.Constant) else None


def constructor(owner: type, sites: Sites) -> Place | None:
    """Where a class of the script's own calls what it inherits to construct itself, or else where it begins."""
    code = getattr(vars(owner).get("__init__"), "__code__", None)
    if code is None or not sites.is_own(code.co_filename):
        return None
    lines = [node.lineno for made in ast.walk(parsed.tree(code.co_filename)) if isinstance(made, ast.FunctionDef)
             and _begins(made) == code.co_firstlineno for node in ast.walk(made)
             if isinstance(node, ast.Call) and name_of(node.func) == "__init__"]
    return code.co_filename, min(lines, default=code.co_firstlineno), owner.__name__


def returns(code: Any, sites: Sites) -> Place | None:
    """The first line on which a function of the script's own returns something."""
    tree = parsed.tree(code.co_filename) if sites.is_own(code.co_filename) else None
    made = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)] if tree is not None else []
    lines = [part.lineno for node in made if _begins(node) == code.co_firstlineno for part in ast.walk(node)
             if isinstance(part, ast.Return) or part is getattr(node, "body", None)]
    return (code.co_filename, min(lines), code.co_name) if lines else None


def compared(code: Any, sites: Sites) -> Place | None:
    """The first line on which a function of the script's own tests two things for equality or asks a metric, neither of them a number."""
    tree = parsed.tree(code.co_filename) if sites.is_own(code.co_filename) else None
    made = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)] if tree is not None else []
    lines = [part.lineno for node in made if _begins(node) == code.co_firstlineno for part in ast.walk(node)
             if isinstance(part, ast.Call | ast.Compare) and _compares(part)]
    return (code.co_filename, min(lines), code.co_name) if lines else None


def _compares(node: ast.Call | ast.Compare) -> bool:
    if isinstance(node, ast.Call):
        return name_of(node.func) in ("compute", "add_batch", "update") or name_of(node.func).endswith("_score")
    sides = (node.left, *node.comparators)
    return isinstance(node.ops[0], ast.Eq) and not any(isinstance(side, ast.Constant | ast.UnaryOp) for side in sides)


def uncalled(script: Path, names: Iterable[str]) -> dict[str, Place]:
    """The first line for each of these methods that only names it, `optimizer.zero_grad`, as a statement of its own."""
    tree, wanted = parsed.tree(str(script)), set(names)
    found = [(node.value.attr, node.lineno) for node in ast.walk(tree) if isinstance(node, ast.Expr)
             and isinstance(node.value, ast.Attribute) and node.value.attr in wanted]
    return {name: (str(script), line, "<module>") for name, line in sorted(found, key=lambda entry: -entry[1])}


def built(kind: str, script: Path, sites: Sites) -> Place | None:
    """Where a script builds its only object of a kind."""
    tree = parsed.tree(str(script))
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of(node.func) == kind]
    return (str(script), lines[0], "<module>") if len(lines) == 1 and sites.is_own(str(script)) else None


def spelt(text: str, script: Path) -> Place | None:
    """The only line on which a script writes this text by itself, as one does the name of an activation."""
    lines = {node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Constant) and node.value == text}
    return (str(script), lines.pop(), "<module>") if len(lines) == 1 else None


def reshaped(script: Path) -> Place | None:
    """Where a script gives an array a shape of four sizes or a row one of three (`view`, `reshape`), if it does so once."""
    tree = parsed.tree(str(script))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)
             and name_of(node.func) in ("view", "reshape", "Reshape")]
    lines = {node.lineno for node in calls
             if max([len(node.args), *(len(part.elts) for part in node.args if isinstance(part, ast.Tuple))]) > 2}
    return (str(script), lines.pop(), "<module>") if len(lines) == 1 else None


def multiplied(script: Path) -> Place | None:
    """Where a script multiplies a list of one layer, or whatever a call makes or a name stands for, if it does so once."""
    found = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
    lines = {node.lineno for node in found for side in (node.left, node.right)
             if isinstance(side, ast.List) and len(side.elts) == 1 and isinstance(side.elts[0], ast.Call | ast.Name | ast.Attribute)}
    return (str(script), lines.pop(), "<module>") if len(lines) == 1 else None


def appended(script: Path) -> Place | None:
    """Where a loop of a script puts something that has a name into a list, if there is one such line."""
    loops = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.For | ast.While)]
    lines = {node.lineno for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Call) and name_of(node.func) == "append"
             and len(node.args) == 1 and isinstance(node.args[0], ast.Name)}
    return (str(script), lines.pop(), "<module>") if len(lines) == 1 else None


def moved(script: Path, *, turned: bool) -> Place | None:
    """Where a script first mirrors pictures: by a function or layer that is called after it, or by a slice that runs backwards. `turned`:
    where it first turns them; where there is no such place, that of the other counts."""
    mirrors, turns = set[int](), set[int]()
    for node in ast.walk(parsed.tree(str(script))):
        called = name_of(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and re.search(r"rot90|random_?rotat", called, re.IGNORECASE):
            turns.add(node.lineno)
        elif (isinstance(node, ast.Call) and re.search(r"flip|mirror|revers|negat|invert", called, re.IGNORECASE)) or (
                isinstance(node, ast.Slice) and node.step is not None and ast.unparse(node.step) == "-1"):
            mirrors.add(node.lineno)
    lines = (turns or mirrors) if turned else (mirrors or turns)
    return (str(script), min(lines), "<module>") if lines else None


def unused(script: Path) -> Place | None:
    """Where a script binds names of rows that are set aside (`x_val`, `test_texts`), of which it makes no use afterwards."""
    tree = parsed.tree(str(script))
    fields = {id(part.target) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body
              if isinstance(part, ast.AnnAssign)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in fields]
    read = {node.id for node in names if not isinstance(node.ctx, ast.Store)}
    lines = [node.lineno for node in names if isinstance(node.ctx, ast.Store) and node.id not in read and _HELD.search(node.id)]
    return (str(script), min(lines), "<module>") if lines else None


def compared_with_padding(script: Path) -> Place | None:
    """The only line on which a script asks which ids are padding, `ids == PAD`."""
    lines = {node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Compare)
             and isinstance(node.ops[0], ast.Eq) and (re.search("pad", ast.unparse(node.comparators[0]), re.IGNORECASE)
                                                      or getattr(node.comparators[0], "value", None) == 0)}
    return (str(script), lines.pop(), "<module>") if len(lines) == 1 else None


def smoothed(script: Path) -> Place | None:
    """Where a script first averages neighbouring values, around a middle if there is such a line."""
    calls = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Call) and name_of(node.func) in _SMOOTHS]
    around = [node for node in calls if any(word.arg in ("center", "mode") for word in node.keywords)]
    return (str(script), min(node.lineno for node in around or calls), "<module>") if calls else None


def assigned(name: str, script: Path, sites: Sites, *, bare: bool = False) -> Place | None:
    """Where a script sets an attribute of this name, of whatever object, or (`bare`) a variable, if it does so once."""
    tree, kind = parsed.tree(str(script)), ast.Name if bare else ast.Attribute
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, kind) and isinstance(node.ctx, ast.Store)
             and name == (node.id if isinstance(node, ast.Name) else node.attr)]
    return (str(script), lines[0], "<module>") if len(lines) == 1 and sites.is_own(str(script)) else None


def returned(owner: type, function: Any, sites: Sites, *, computed: bool = False) -> Place | None:
    """Where a class of the script's own assigns the attribute that its function returns the last part of: `return self.x[k], self.y[k]`.

    Of a dict it is the part under a name of labels. `computed`: None where an argument is merely kept.
    """
    code = getattr(function, "__code__", None)
    tree = parsed.tree(code.co_filename) if code is not None and sites.is_own(code.co_filename) else None
    if code is None or tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _begins(node) == code.co_firstlineno:
            values = [made.value for made in ast.walk(node) if isinstance(made, ast.Return)]
            last = _labels(values[-1]) if values else None
            names = [part.attr for part in ast.walk(last) if isinstance(part, ast.Attribute)
                     and isinstance(part.value, ast.Name) and part.value.id == "self"] if last is not None else []
            return attribute(owner, names[0], sites, computed=computed) if len(names) == 1 else None
    return None


def read(owner: type, name: str, sites: Sites) -> Place | None:
    """The line of the `__getitem__` of a class of the script's own that first takes `self.name`."""
    code = getattr(getattr(owner, "__getitem__", None), "__code__", None)
    tree = parsed.tree(code.co_filename) if code is not None and sites.is_own(code.co_filename) else None
    if code is None or tree is None:
        return None
    lines = [part.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _begins(node) == code.co_firstlineno
             for part in ast.walk(node) if isinstance(part, ast.Attribute) and part.attr == name]
    return (code.co_filename, min(lines), code.co_name) if lines else None


def _labels(value: ast.expr | None) -> ast.expr | None:
    if isinstance(value, ast.Tuple) and value.elts:
        return value.elts[-1]
    named = zip(value.keys, value.values, strict=True) if isinstance(value, ast.Dict) else ()
    return next((part for key, part in named if isinstance(key, ast.Constant) and key.value in LABELS), None)


def last_made(function: Any, sites: Sites) -> Place | None:
    """Where a function of the script's own makes the last part of what it returns: the last line that assigns it, or the return itself."""
    code = getattr(function, "__code__", None)
    tree = parsed.tree(code.co_filename) if code is not None and sites.is_own(code.co_filename) else None
    if code is None or tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _begins(node) == code.co_firstlineno:
            returns = [made for made in ast.walk(node) if isinstance(made, ast.Return) and made.value is not None]
            if not returns:
                return None
            value = returns[-1].value
            parts = value.elts if isinstance(value, ast.Tuple) else value.values if isinstance(value, ast.Dict) else []
            names = {part.id for part in ast.walk(parts[-1]) if isinstance(part, ast.Name)} if parts else set()
            lines = [part.lineno for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in names
                     and isinstance(part.ctx, ast.Store)]
            return code.co_filename, max(lines, default=returns[-1].lineno), code.co_name
    return None


def argument(file: str, line: int, message: str) -> int:
    """Of a call that begins on a line and is refused an argument, the line of that argument; else the line itself."""
    tree, quoted = parsed.tree(file), set(re.findall(r"'(\w+)'", message))
    found = [word.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or line)
             for word in node.keywords if word.arg in quoted]
    return found[0] if len(set(found)) == 1 else line


def negative(number: int, script: Path) -> Place | None:
    """The first line of a script that hands on a negative number, or puts it somewhere: not one that only compares with it."""
    tree = parsed.tree(str(script))
    compared = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Compare) for part in ast.walk(node)}
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
             and isinstance(node.operand, ast.Constant) and node.operand.value == -number and id(node) not in compared]
    return (str(script), min(lines), "<module>") if lines else None


def named(name: str, script: Path) -> Place | None:
    """The only line of a script that names something so, as text or as a part of something else."""
    lines = {node.lineno for node in ast.walk(parsed.tree(str(script)))
             if (isinstance(node, ast.Constant) and node.value == name) or (isinstance(node, ast.Attribute) and node.attr == name)}
    return (str(script), lines.pop(), "<module>") if len(lines) == 1 else None


def limited(limit: int, script: Path) -> Place | None:
    """Where a script brings rows to a length: the first argument of a call that is named so, or the first slice from the start, whose end
    is that number or has a name that speaks of a length."""
    tree = parsed.tree(str(script))
    words = [node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg in _LIMITS]
    slices = [node.slice.upper for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
              and node.slice.lower is None and node.slice.step is None and node.slice.upper is not None]
    near = range(limit - _SPECIAL, limit + _SPECIAL + 1)
    named = [node for node in slices if getattr(node, "value", None) in near
             or re.search("max|len|limit|size|width", ast.unparse(node), re.IGNORECASE)]
    lines = [node.lineno for node in [*words, *named]]
    return (str(script), lines[0], "<module>") if lines else None


def blotted(script: Path) -> Place | None:
    """The first line on which a script sets a stretch of something to 0: `row[start:start + width] = 0`."""
    lines = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Assign)
             and getattr(node.value, "value", None) == 0 and any(isinstance(part, ast.Slice) for part in ast.walk(node.targets[0]))]
    return (str(script), min(lines), "<module>") if lines else None


def keyed(name: str, script: Path) -> Place | None:
    """The only line of a script that gives something this name, as a key or an argument; None where several do."""
    lines = {line for node in ast.walk(parsed.tree(str(script))) if not isinstance(node, ast.Name | ast.Call)
             for line, given, _ in _given(node) if given == name}
    return (str(script), lines.pop(), "<module>") if len(lines) == 1 else None


def framed(script: Path) -> Place | None:
    """The first line on which a script puts single values before and behind a row: `[first] + row + [last]`."""
    lines = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
             and isinstance(node.left, ast.BinOp) and isinstance(node.left.left, ast.List) and isinstance(node.right, ast.List)]
    return (str(script), min(lines), "<module>") if lines else None


def rebound(place: Place | None) -> Place | None:
    """Where a script gives another value to that whose `parameters()` an optimizer is made of, if it does so once after that."""
    tree = parsed.tree(place[0]) if place is not None else None
    if place is None or tree is None:
        return None
    file, line, _ = place
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return)
            and node.lineno <= line <= (node.end_lineno or line)]
    names = {ast.unparse(node.func.value) for statement in made for node in ast.walk(statement) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Attribute) and node.func.attr in ("parameters", "named_parameters")}
    around = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)
              and node.lineno <= line <= (node.end_lineno or line)]
    scope = max((node for node in around if isinstance(node, ast.FunctionDef)), key=lambda node: node.lineno, default=tree)
    owner = next((node for node in around if isinstance(node, ast.ClassDef)), tree)

    def given(within: ast.AST) -> list[int]:
        return [node.lineno for node in ast.walk(within) if isinstance(node, ast.Assign)
                and any(ast.unparse(target) in names for target in node.targets)]

    lines = [number for number in given(scope) if number > line]
    if all(name.startswith("self.") for name in names) and min(given(scope), default=line) < line:
        lines = sorted({*lines, *given(owner)} - {number for number in given(scope) if number < line})
    return (file, lines[0], "") if len(lines) == 1 else None


def repeated(place: Place | None) -> bool:
    """Whether a line stands in a loop."""
    tree = parsed.tree(place[0]) if place is not None else None
    if place is None or tree is None:
        return False
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    return any(loop.lineno < place[1] <= (loop.end_lineno or loop.lineno) for loop in loops)


def _begins(node: ast.FunctionDef | ast.Lambda) -> int:
    """The first line of a function, decorators included, as its code has it."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(made.lineno for made in decorators)])


def _given(node: ast.AST) -> Iterator[tuple[int, Any, ast.expr | None]]:
    """The names that a node gives values to, each with its line and, where it is one of a dict or a keyword, the value."""
    if isinstance(node, ast.Dict):
        yield from ((key.lineno, key.value, value) for key, value in zip(node.keys, node.values, strict=True)
                    if isinstance(key, ast.Constant))
    elif isinstance(node, ast.keyword):
        yield node.value.lineno, node.arg, node.value
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.slice, ast.Constant):
        yield node.lineno, node.slice.value, None
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.lineno, node.id, None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS:
        into = node.func.value
        if isinstance(into, ast.Subscript) and isinstance(into.slice, ast.Constant):
            yield node.lineno, into.slice.value, None
