"""Numbers of Python that a model's own step reads while it is traced, and that the script changes later: the graph never hears of it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import BakedFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_TRACED = ("train_step", "call", "compute_loss")


class Baked:
    """Told of each tracing of a training step, and of each step."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._read: dict[str, Place] = {}
        self._then: dict[str, Any] = {}

    def traced(self, model: Any) -> None:
        """A graph has been made of the step of a model: its numbers are those of now."""
        self._read = _reads(type(model), self._session) if not getattr(model, "run_eagerly", False) else {}
        self._then = {name: vars(model)[name] for name in self._read if type(vars(model).get(name)) in (int, float, bool)}

    def stepped(self, model: Any) -> None:
        """A step by that graph."""
        if self._session.observation.baked is not None:
            return
        for name, before in self._then.items():
            now = vars(model).get(name)
            if type(now) in (int, float, bool) and now != before:
                self._session.observation.baked = BakedFacts(name=name, kept=float(before), now=float(now), site=site(self._read[name]))
                return


def _reads(owner: type, session: WatchSession) -> dict[str, Place]:
    """The attributes of itself that a class of the script's own reads in what is traced of it and never sets there, with the line."""
    code = getattr(vars(owner).get("train_step"), "__code__", None)
    tree = parsed.tree(code.co_filename) if code is not None and session.sites.is_own(code.co_filename) else None
    made = next((node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == owner.__name__), None) if tree else None
    if made is None or code is None:
        return {}
    functions = {node.name: node for node in made.body if isinstance(node, ast.FunctionDef)}
    found: dict[str, Place] = {}
    written: set[str] = set()
    waiting, done = [name for name in _TRACED if name in functions], set()
    while waiting:
        name = waiting.pop()
        done.add(name)
        for node in ast.walk(functions[name]):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                if isinstance(node.ctx, ast.Store):
                    written.add(node.attr)
                elif node.attr in functions and node.attr not in done:
                    waiting.append(node.attr)
                else:
                    found.setdefault(node.attr, (code.co_filename, node.lineno, name))
    return {name: place for name, place in found.items() if name not in written and not name.startswith("_")}
