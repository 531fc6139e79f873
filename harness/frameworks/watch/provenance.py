"""Where a script makes what it trains on: its text read backward, from where labels and inputs are used to where they come from."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from harness.checks.raised import INPUTS, LABELS
from harness.frameworks.watch import handing
from harness.frameworks.watch.bindings import PUT, Bound, Path, columns, key_of, name_of, of_place, of_target

Scope = ast.Module | ast.FunctionDef | ast.Lambda

_DEEP = 40


@dataclass(frozen=True)
class Step:
    """A line that the value went through. `kind`: made (computed there), converted (another type or shape), taken (a part, or handed on),
    called (a function of the script's, which the next lines are in), reordered (its rows stand in another order since). `by`: the text of
    the index that reorders it, where it is one.
    """

    line: int
    function: str
    kind: str
    by: str = ""


class Text:
    """The text of one script. `callers`: lines that were under way; of several calls of a function the one on such a line is meant."""

    def __init__(self, tree: ast.Module, callers: Collection[int] = ()) -> None:
        self._tree = tree
        self._callers = callers
        self._functions: dict[str, ast.FunctionDef] = {}
        self._classes: dict[str, ast.ClassDef] = {}
        self._scope_of: dict[int, Scope] = {}
        self._calls: list[ast.Call] = []
        self._bound: dict[tuple[int, str], list[Bound]] = {}
        self._modules: set[str] = set()
        self._entered: dict[int, ast.Call] = {}
        self._steps: list[Step] = []
        self._renewed: set[str] = set()
        self._enter(tree, tree)

    def calls(self, line: int) -> list[ast.Call]:
        """The calls that stand on a line, or begin or end around it, the innermost last."""
        found = [call for call in self._calls if call.lineno <= line <= (call.end_lineno or call.lineno)]
        return sorted(found, key=lambda call: (call.lineno - (call.end_lineno or 0), -(call.end_col_offset or 0) + call.col_offset))

    def steps(self, value: ast.expr, path: Path = ()) -> list[Step]:
        """The lines that a part of a value went through, the latest first."""
        self._steps, self._entered, self._renewed = [], {}, set()
        self._follow(value, self._scope_of.get(id(value), self._tree), value.lineno, path, 0)
        return self._steps

    def asked(self, value: ast.expr) -> ast.expr | None:
        """What a model is given: `x` of `model(x)`, where a value is that or something of it."""
        for _ in range(_DEEP):
            method = value.func if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else None
            numbers = isinstance(value, ast.Call) and all(isinstance(part, ast.Constant | ast.UnaryOp) for part in value.args)
            if method is not None and (numbers or isinstance(method.value, ast.Call | ast.Subscript)
                                       or method.attr in handing.METHODS | handing.MOVES):
                value = method.value
            elif isinstance(value, ast.Call) and value.args:
                return value.args[0]
            elif isinstance(value, ast.Name):
                bound = self._binding(value.id, self._scope_of.get(id(value), self._tree), value.lineno)
                if bound is None or bound.value is None:
                    return None
                value = bound.value
            elif isinstance(value, ast.Call | ast.Attribute | ast.Subscript):
                value = value.func if isinstance(value, ast.Call) else value.value
            else:
                return None
        return None

    # Reading

    def _enter(self, node: ast.AST, scope: Scope) -> None:
        for child in ast.iter_child_nodes(node):
            self._scope_of[id(child)] = scope
            if isinstance(child, ast.FunctionDef | ast.Lambda):
                if isinstance(child, ast.FunctionDef):
                    self._functions.setdefault(child.name, child)
                self._enter(child, child)
                continue
            if isinstance(child, ast.ClassDef):
                self._classes[child.name] = child
            self._bind(child, scope)
            self._enter(child, scope)

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._target(target, node.value, (), scope)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._target(node.target, node.value, (), scope)
        elif isinstance(node, ast.For):
            self._target(node.target, node.iter, ("item",), scope)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._modules |= {(name.asname or name.name).split(".")[0] for name in node.names}
        elif isinstance(node, ast.Call):
            self._calls.append(node)
            # random.shuffle(labels) moves them where they are
            if name_of(node.func) == "shuffle" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
                self._add(scope, node.args[0].id, Bound(node.lineno, None, ()))
            elif name_of(node.func) in PUT and len(node.args) == 1 and isinstance(node.func, ast.Attribute) and key_of(node.func.value):
                self._add(scope, key_of(node.func.value), Bound(node.lineno, node.args[0], (), "put"))

    def _target(self, target: ast.expr, value: ast.expr, path: Path, scope: Scope) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and not path and len(value.elts) == len(target.elts):
                for part, made in zip(target.elts, value.elts, strict=True):
                    self._target(part, made, (), scope)
                return
            for number, part in enumerate(target.elts):
                self._target(part, value, (*path, number), scope)
            return
        name = key_of(target)
        if name:
            self._add(scope, name, Bound(target.lineno, value, path))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):  # some of its columns or rows
            self._add(scope, target.value.id, Bound(target.lineno, None, (), "made"))

    def _add(self, scope: Scope, name: str, bound: Bound) -> None:
        self._bound.setdefault((id(scope), name), []).append(bound)

    def _binding(self, name: str, scope: Scope, line: int) -> Bound | None:
        """What a name was bound to last before a line; in a loop that may stand behind it."""
        known = sorted(self._bound.get((id(scope), name), []), key=lambda bound: bound.line)
        return next((bound for bound in reversed(known) if bound.line < line), None)

    # Following

    def _note(self, node: ast.AST, scope: Scope, kind: str, by: str = "") -> None:
        line = getattr(node, "lineno", 0)
        function = scope.name if isinstance(scope, ast.FunctionDef) else "<module>"
        step = Step(line, function, kind, by)
        if line and not (self._steps and self._steps[-1] == step):
            self._steps.append(step)

    def _follow(self, value: ast.expr, scope: Scope, line: int, path: Path, deep: int) -> None:
        if deep > _DEEP:
            return
        if isinstance(value, ast.Name):
            self._name(value.id, scope, line, path, deep)
        elif isinstance(value, ast.Tuple | ast.List) and path and isinstance(path[0], int) and path[0] < len(value.elts):
            self._follow(value.elts[path[0]], scope, line, path[1:], deep + 1)
        elif isinstance(value, ast.Dict) and value.values:
            self._of_dict(value, scope, line, path, deep)
        elif isinstance(value, ast.Call):
            self._call(value, scope, line, path, deep)
        elif isinstance(value, ast.Subscript):
            self._subscript(value, scope, line, path, deep)
        elif isinstance(value, ast.Attribute):
            self._attribute(value, scope, line, path, deep)
        elif isinstance(value, ast.BinOp | ast.Compare | ast.UnaryOp):
            self._note(value, scope, "made")
            inner = value.operand if isinstance(value, ast.UnaryOp) else value.left
            self._follow(inner, scope, line, path, deep + 1)
        elif isinstance(value, ast.ListComp | ast.GeneratorExp):
            self._comprehension(value, scope, line, path, deep)
        elif isinstance(value, ast.DictComp):
            self._note(value, scope, "made")
            method = getattr(value.generators[0].iter, "func", None)
            if path and isinstance(method, ast.Attribute) and method.attr == "items":  # each part of what another one holds
                self._follow(method.value, scope, line, path, deep + 1)
        elif not isinstance(value, ast.Starred):
            self._note(value, scope, "made")

    def _name(self, name: str, scope: Scope, line: int, path: Path, deep: int) -> None:
        keyed = f"{name}[{path[0]!r}]" if path and isinstance(path[0], str) and path[0] != "item" else ""
        bound = (self._binding(keyed, scope, line) if keyed else None) or self._binding(name, scope, line)
        if bound is not None and bound.value is None:
            by = f"line {bound.line}" if bound.kind == "reordered" else ""
            self._steps.append(Step(bound.line, getattr(scope, "name", "<module>"), bound.kind, by))
            self._name(name, scope, bound.line, path, deep + 1)
        elif bound is not None and bound.value is not None and bound.kind == "put":
            kind = "taken" if isinstance(bound.value, ast.Name) else "made"
            self._steps.append(Step(bound.line, getattr(scope, "name", "<module>"), kind))
            self._follow(bound.value, scope, bound.line, path[1:] if path[:1] == ("item",) else path, deep + 1)
        elif bound is not None and bound.value is not None:
            column = bool(keyed) and self._binding(keyed, scope, line) is bound  # the line that gives a column its name
            rest = path[1:] if column else path
            if column or bound.path or isinstance(bound.value, ast.Name):
                self._steps.append(Step(bound.line, getattr(scope, "name", "<module>"), "made" if column else "taken"))
            self._follow(bound.value, scope, bound.line, (*bound.path, *rest), deep + 1)
        elif isinstance(scope, ast.FunctionDef):
            self._argument(name, scope, path, deep)

    def _argument(self, name: str, scope: ast.FunctionDef, path: Path, deep: int) -> None:
        """A parameter: what the call gives that it was come from, or the only one there is; else a name of the module's."""
        names = [argument.arg for argument in scope.args.args]
        if name not in names:
            self._name(name, self._tree, 1 << 30, path, deep + 1)
            return
        method = bool(names) and names[0] in ("self", "cls")
        owner = next((cls.name for cls in self._classes.values() if scope in cls.body), "")
        called = owner if scope.name == "__init__" else scope.name
        entered = self._entered.get(id(scope))
        calls = [entered] if entered is not None else [
            call for call in self._calls if name_of(call.func) == called and (method or isinstance(call.func, ast.Name))]
        if len(calls) > 1:
            calls = [call for call in calls if self._scope_of.get(id(call)) is not scope
                     and any(call.lineno <= line <= (call.end_lineno or 0) for line in self._callers)]
        if len(calls) != 1:
            return
        given = next((word.value for word in calls[0].keywords if word.arg == name), None)
        if given is None and (place := names.index(name) - method) >= 0:
            given, path = of_place(calls[0].args, place, path)
        if given is not None:
            self._follow(given, self._scope_of.get(id(calls[0]), self._tree), calls[0].lineno, path, deep + 1)

    def _of_dict(self, value: ast.Dict, scope: Scope, line: int, path: Path, deep: int) -> None:
        # Where a model takes its labels among its inputs, one dict stands for both.
        wanted = {0: INPUTS, 1: LABELS}.get(path[0], ()) if path and isinstance(path[0], int) else path[:1]
        parts = [part for key, part in zip(value.keys, value.values, strict=True) if isinstance(key, ast.Constant) and key.value in wanted]
        if not path:  # of a table the rows of one column are those of all
            self._note(value, scope, "made")
            parts = value.values
        if parts:
            self._follow(parts[0], scope, line, path[1:], deep + 1)

    def _subscript(self, value: ast.Subscript, scope: Scope, line: int, path: Path, deep: int) -> None:
        index = value.slice
        if isinstance(index, ast.Constant) and isinstance(index.value, int | str):
            self._follow(value.value, scope, line, (index.value, *path), deep + 1)
            return
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        # The first axis is the rows'; what the others pick moves none of them.
        whole = not parts or (isinstance(parts[0], ast.Slice) and parts[0].step is None) or columns(index) or self._row(index, scope)
        self._note(value, scope, "taken" if whole else "reordered", "" if whole else ast.unparse(index))
        self._follow(value.value, scope, line, path, deep + 1)

    def _row(self, index: ast.expr, scope: Scope) -> bool:
        """Whether an index is the number of a row: a parameter of the function it stands in, as in `__getitem__`, one that a loop counts,
        or reckoned from others (`i + width`)."""
        if isinstance(index, ast.BinOp):
            return True
        arguments = scope.args.args if isinstance(scope, ast.FunctionDef) else []
        if not isinstance(index, ast.Name) or any(argument.arg == index.id for argument in arguments):
            return isinstance(index, ast.Name)
        bound = self._binding(index.id, scope, index.lineno)
        counted = name_of(bound.value.func) if bound is not None and isinstance(bound.value, ast.Call) else ""
        return bound is not None and (counted, bound.path) in (("range", ("item",)), ("enumerate", ("item", 0)))

    def _comprehension(self, value: ast.ListComp | ast.GeneratorExp, scope: Scope, line: int, path: Path, deep: int) -> None:
        """What is made of each part of something, or of the parts that an order picks: `[labels[k] for k in order]`."""
        loop, made = value.generators[0], value.elt
        own = isinstance(made, ast.Dict) or (isinstance(made, ast.Call) and name_of(made.func) in self._functions)
        if own and path and isinstance(path[0], str):  # rows by the names of their columns, or one of them
            self._follow(made, scope, line, path[path[0] == "item":], deep + 1)
            return
        picked = [part for part in ast.walk(value.elt) if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name)
                  and isinstance(loop.target, ast.Name) and part.slice.id == loop.target.id]
        self._note(value, scope, "reordered" if picked else "made", ast.unparse(loop.iter) if picked else "")
        if loop.ifs:
            self._note(value, scope, "reordered", " and ".join(map(ast.unparse, loop.ifs)))
        if picked:
            self._follow(picked[0].value, scope, line, (), deep + 1)
        else:
            self._follow(loop.iter, scope, line, of_target(loop.target, value.elt, path), deep + 1)

    def _attribute(self, value: ast.Attribute, scope: Scope, line: int, path: Path, deep: int) -> None:
        if isinstance(value.value, ast.Name) and value.value.id == "self":
            known = [bound[-1] for (_, name), bound in self._bound.items() if name == f"self.{value.attr}"]
            # What another method makes of it comes after what it was first.
            later = [bound for bound in known[1:] if value.attr not in self._renewed and _of_itself(bound.value, value.attr)]
            self._renewed |= {value.attr} if later else set()
            bound = next(iter([*later, *known]), None)
            if bound is not None and bound.value is not None:
                self._follow(bound.value, self._scope_of[id(bound.value)], bound.line, (*bound.path, *path), deep + 1)
            return
        if value.attr in ("values", "T", "data", "loc", "iloc"):
            if value.attr not in ("loc", "iloc"):
                self._note(value, scope, "converted")
            self._follow(value.value, scope, line, path, deep + 1)
        else:
            self._note(value, scope, "made")

    def _call(self, value: ast.Call, scope: Scope, line: int, path: Path, deep: int) -> None:
        if name_of(value.func) == "DataLoader" and path[:1] == ("item",) and self._collated(value, scope, path[1:], deep):
            return
        bound = self._binding(value.func.id, scope, line) if isinstance(value.func, ast.Name) else None
        if bound is not None and isinstance(bound.value, ast.Lambda) and not bound.path:
            self._note(value, scope, "called")
            self._follow(bound.value.body, scope, bound.line + 1, path, deep + 1)
            return
        onward = self._onward(value, path)
        if onward is None:
            self._made(value, scope, line, path, deep)
            return
        inner, rest, kind = onward
        if kind:
            by = value if name_of(value.func) != "groupby" else ast.Call(ast.Name("groupby"), value.args, value.keywords)
            self._note(value, scope, kind, ast.unparse(by) if kind == "reordered" else "")
        self._follow(inner, scope, line, rest, deep + 1)

    def _onward(self, value: ast.Call, path: Path) -> tuple[ast.expr, Path, str] | None:
        """What a call hands on: of which value, which part of that, and the kind of the step; None where it makes something new."""
        name, first = name_of(value.func), value.args[0] if value.args else None
        rest = path[1:] if path and path[0] == "item" else path
        base = value.func.value if isinstance(value.func, ast.Attribute) else None
        base = None if isinstance(base, ast.Name) and base.id in self._modules else base
        if base is None and (name in self._functions or name in self._classes):
            return None
        if base is not None and name == "map" and self._leaves_alone(first, path):
            return base, path, ""
        if base is not None and name in handing.METHODS | handing.MOVES | handing.ROWWISE | handing.COMPUTES:
            kinds = (("converted", handing.METHODS), ("made", handing.COMPUTES), ("reordered", handing.MOVES_ROWS))
            of_columns = any(word.arg == "columns" or (word.arg == "axis" and getattr(word.value, "value", 0) in (1, "columns"))
                             for word in value.keywords)
            return base, path, "made" if of_columns else next((kind for kind, names in kinds if name in names), "")
        if base is not None and name == "add_column" and len(value.args) == 2:
            given = value.args[0].value if isinstance(value.args[0], ast.Constant) else None
            return (value.args[1], path[path.index(given) + 1:], "") if given in path else (base, path, "")
        if base is not None and name == "groupby" and not any(word.arg == "sort" for word in value.keywords):
            return base, path, "reordered"  # the groups come sorted by their key
        if base is not None and (name in handing.OF_FRAMES or (name in handing.REORDERS and first is None)):
            return base, rest, "reordered"
        if first is None:
            return None
        if name in ("TensorDataset", "zip") and rest and isinstance(rest[0], int):
            # A collator may have put something in between: the labels stay the last part.
            return value.args[min(rest[0], len(value.args) - 1)], rest[1:], ""
        if name in ("prepare", "train_test_split") and path and isinstance(path[0], int):
            return value.args[min(path[0] if name == "prepare" else path[0] // 2, len(value.args) - 1)], path[1:], ""
        if base is None and name == "map" and len(value.args) == 2:
            return value.args[1], path, "converted"
        parts = {"enumerate": ("item", *rest[1:]), "random_split": path[1:], **dict.fromkeys(handing.HANDS_ON, path),
                 **dict.fromkeys(handing.DATASETS, tuple(part for part in path if part not in handing.PARTS))}
        if name in parts:
            return first, parts[name], ""
        kind = "converted" if name in handing.CONVERTS else "reordered" if name in handing.REORDERS else ""
        return (first, rest, kind) if kind else None

    def _collated(self, loader: ast.Call, scope: Scope, path: Path, deep: int) -> bool:
        """A part of what a collator of the script's own makes of rows; whether it was followed beyond that function."""
        function = self._collator(loader, scope)
        rows = next((word.value for word in loader.keywords if word.arg == "dataset"), next(iter(loader.args), None))
        made = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None] if function else []
        if function is None or rows is None or not made:
            return False
        called = ast.copy_location(ast.Call(ast.Name(function.name), [rows], []), loader)
        self._entered[id(function)], self._scope_of[id(called)] = called, scope
        known = len(self._steps)
        self._follow(made[-1], function, made[-1].lineno + 1, path, deep + 1)
        return any(step.function != function.name for step in self._steps[known:])

    def _collator(self, loader: ast.Call, scope: Scope) -> ast.FunctionDef | None:
        """The function of the script's own that a loader collates with: itself, or the method of an object that is called as one."""
        made = next((word.value for word in loader.keywords if word.arg == "collate_fn"), None)
        if isinstance(made, ast.Call) and name_of(made.func) == "partial" and made.args:
            made = made.args[0]
        if isinstance(made, ast.Name | ast.Attribute) and name_of(made) in self._functions:
            return self._functions[name_of(made)]
        bound = self._binding(made.id, scope, loader.lineno) if isinstance(made, ast.Name) else None
        made = bound.value if bound is not None and not bound.path else made
        own = self._classes.get(name_of(made.func)) if isinstance(made, ast.Call) else None
        return next((part for part in own.body if isinstance(part, ast.FunctionDef) and part.name == "__call__"), None) if own else None

    def _leaves_alone(self, mapped: ast.expr | None, path: Path) -> bool:
        """Whether a function that a dataset's rows are given to never names the column that is followed."""
        key = next((part for part in path if isinstance(part, str) and part not in handing.PARTS), None)
        body = self._functions.get(mapped.id) if isinstance(mapped, ast.Name) else mapped if isinstance(mapped, ast.Lambda) else None
        return key is not None and body is not None and not any(
            (isinstance(node, ast.Constant) and node.value == key) or (isinstance(node, ast.keyword) and node.arg == key)
            for node in ast.walk(body))

    def _made(self, value: ast.Call, scope: Scope, line: int, path: Path, deep: int) -> None:
        """A call that makes something new: a function of the script's own is gone into, and a dataset's way to make a row."""
        name = name_of(value.func)
        function, own = self._functions.get(name), self._classes.get(name)
        rest = path[1:] if path and path[0] == "item" else ()
        if own is not None and rest:
            function = next((part for part in own.body if isinstance(part, ast.FunctionDef) and part.name == "__getitem__"), None)
            path = rest
        if function is None:
            self._note(value, scope, "made")
            given = value.args[:1] or ([value.func.value] if isinstance(value.func, ast.Attribute) else [])
            for inner in given:
                self._follow(inner, scope, line, (), deep + 1)
            return
        made = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
        if not made and path[:1] == ("item",):
            made, path = [node.value for node in ast.walk(function) if isinstance(node, ast.Yield) and node.value is not None], path[1:]
        self._note(value, scope, "called")
        for part in (function, *(own.body if own is not None else ())):
            self._entered[id(part)] = value
        if made:
            self._follow(made[-1], function, made[-1].lineno + 1, path, deep + 1)


def _of_itself(value: ast.expr | None, name: str) -> bool:
    """Whether a value is made of `self.name`."""
    return value is not None and any(isinstance(part, ast.Attribute) and part.attr == name and isinstance(part.value, ast.Name)
                                     and part.value.id == "self" for part in ast.walk(value))
