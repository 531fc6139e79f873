"""What the actions of an episode are credited with, read off a script's text: rewards that are summed up from the front."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.checks.loss_facts import CreditFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import site

_POLICIES = ("log_prob", "log_softmax", "logp")
_TURNED = {"reverse", "flip", "flipud", "appendleft", "insert"}


def facts(script: Path) -> CreditFacts | None:
    """Of the first loop over rewards, from the front, that keeps a discounted sum at each step, or of the first running sum of them; of
    scripts that take logarithms of the probabilities of actions. None where what is kept is turned round."""
    tree = parsed.tree(str(script))
    if not any(any(word in name for word in _POLICIES) for name in _names(tree)):
        return None
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))):
        nodes = list(parsed.within(scope))
        for call in (node for node in nodes if isinstance(node, ast.Call)):
            summed = _summed(scope, call)
            if summed is not None:
                return CreditFacts(rewards=summed, site=site((str(script), call.lineno, "<module>")))
        for loop in nodes:
            if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Name | ast.Attribute) and isinstance(loop.target, ast.Name):
                found = _kept(loop)
                if found is not None and "rew" in _word(loop) and not _is_turned(nodes, loop.iter, found):
                    return CreditFacts(rewards=ast.unparse(loop.iter), site=site((str(script), loop.lineno, "<module>")))
            elif isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and _counts_up(loop.iter):
                numbered = _numbered(loop)
                if numbered is not None and not _is_turned(nodes, ast.parse(numbered[0], mode="eval").body, numbered[1]):
                    return CreditFacts(rewards=numbered[0], site=site((str(script), numbered[2], "<module>")))
    return None


def _summed(scope: ast.AST, node: ast.Call) -> str | None:
    """The rewards, where a running sum over them is taken from the front: nothing in the function turns anything round, and the sum is not
    taken off the whole."""
    if ast.unparse(node.func).rpartition(".")[2] != "cumsum":
        return None
    given = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    rewards = next((name for part in given for name in sorted(_names(part)) if "rew" in name.lower()), None)
    text = ast.unparse(scope)
    turned = "[::-1]" in text or any(word in text for word in (*_TURNED, "reversed"))
    taken_off = any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) and any(inner is node for inner in ast.walk(part))
                    for part in ast.walk(scope))
    return None if turned or taken_off or not isinstance(scope, ast.FunctionDef) else rewards


def _word(loop: ast.For) -> str:
    """How the numbers of a loop are called; `r` and `rs` are rewards where actions have probabilities."""
    words = f"{ast.unparse(loop.iter)} {ast.unparse(loop.target)}".lower()
    return "rew" if {"r", "rs"} & set(words.replace(".", " ").split()) else words


def _kept(loop: ast.For) -> str | None:
    """The list, where a loop does `g = r + discount * g` and keeps it in a list."""
    assert isinstance(loop.target, ast.Name)
    sums: set[str] = set()
    for node in loop.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
                sides = (value.left, value.right)
                products = [side for side in sides if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult)]
                fed = any(name in _names(side) for side in products)
                if fed and any(isinstance(side, ast.Name) and side.id == loop.target.id for side in sides):
                    sums.add(name)
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append" and len(call.args) == 1 \
                and isinstance(call.args[0], ast.Name) and call.args[0].id in sums:
            return ast.unparse(call.func.value)
    return None


def _counts_up(source: ast.expr) -> bool:
    """`range(n)` or `range(0, n)`."""
    return isinstance(source, ast.Call) and getattr(source.func, "id", "") == "range" and not source.keywords and (
        len(source.args) == 1 or (len(source.args) == 2 and getattr(source.args[0], "value", None) == 0))


def _numbered(loop: ast.For) -> tuple[str, str, int] | None:
    """The rewards, the array and the line, where a loop does `g = rewards[t] + discount * g` and keeps it as `array[t]`."""
    assert isinstance(loop.target, ast.Name)
    counter, sums = loop.target.id, dict[str, tuple[str, int]]()
    for node in loop.body:
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name) and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            for one, other in ((value.left, value.right), (value.right, value.left)):
                fed = isinstance(other, ast.BinOp) and isinstance(other.op, ast.Mult) and target.id in _names(other)
                if fed and isinstance(one, ast.Subscript) and ast.unparse(one.slice) == counter and "rew" in ast.unparse(one.value).lower():
                    sums[target.id] = ast.unparse(one.value), node.lineno
        if isinstance(target, ast.Subscript) and ast.unparse(target.slice) == counter and isinstance(value, ast.Name) and value.id in sums:
            return sums[value.id][0], ast.unparse(target.value), sums[value.id][1]
    return None


def _is_turned(nodes: list[ast.AST], rewards: ast.expr, kept: str) -> bool:
    """Whether the list, or the rewards before, are turned round anywhere in the function."""
    names = {kept, ast.unparse(rewards)}
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is not None:
            if names & {ast.unparse(part) for part in ast.walk(node.value) if isinstance(part, ast.Name | ast.Attribute)}:
                return True
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if (name in _TURNED or name == "reversed") and names & {
                    ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}:
                return True
    return False


def _names(node: ast.AST) -> set[str]:
    return {part.id if isinstance(part, ast.Name) else part.attr for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}
