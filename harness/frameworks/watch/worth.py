"""What a script calls that which its actions were worth, and how a loss lies to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.loss_facts import EntropyFacts, PolicyFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Sites, names_of, site

Array = np.ndarray[Any, Any]
_LEAST, _NOTHING = 8, 1e-4
# Names of what is to become large, and of what is to become small.
_WORTH = re.compile(r"adv|return|reward|gain|gae|rtg|^(g|gs|r|rs|rets?|td|delta)$", re.IGNORECASE)
_COST = re.compile(r"cost|loss|neg|penal|regret|error", re.IGNORECASE)


def note(seen: Observation, sites: Sites, pull: Array, read: Callable[[Any], Array | None]) -> None:
    """Hold the derivative of a loss by the log-probabilities of actions, float[actions], against what they were worth by the names of the
    script's own frames; `read` makes an array of a value."""
    found: dict[str, tuple[float, int]] = {}
    wanted = _worth(sites.script)
    for frame in sites.frames():
        names = names_of(frame)
        for name, line in wanted.items():
            value = read(names[name]) if name in names and name not in found else None
            if value is not None and value.size == pull.size >= _LEAST and value.dtype.kind == "f":
                found[name] = _cosine(pull.reshape(-1).astype(np.float64), value.reshape(-1).astype(np.float64)), line
    if not found:
        return
    name, (along, _) = max(found.items(), key=lambda each: abs(each[1][0]))
    line = max(line for _, line in found.values())  # the others are what it was made of
    known = seen.policy = seen.policy or PolicyFacts(name=name, site=site((str(sites.script), line, "<module>")))
    # What was left of it by a baseline may be of the other sign; then nothing is said.
    known.along.append(along if all(cosine * along > 0 for cosine, _ in found.values()) else 0.0)


def entropy(seen: Observation, derivative: float, place: Site | None) -> None:
    """Note the derivative of a loss by the entropy of a policy; 0 where it takes no part."""
    if derivative:
        known = seen.entropy = seen.entropy or EntropyFacts(site=place)
        known.derivatives.append(derivative)


def beside(pull: Array, logs: Array, valued: Array) -> float:
    """The cosine of two of these, float[actions], once what is a straight line of the third is taken away from both."""
    line = np.stack([valued, np.ones_like(valued)], 1)
    rests = [part - line @ np.linalg.lstsq(line, part, rcond=None)[0] for part in (pull, logs)]
    if len(pull) < _LEAST or np.linalg.norm(rests[0]) <= _NOTHING * np.linalg.norm(pull):
        return 0.0
    return _cosine(*rests)


def _cosine(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / size if size > 0 else 0.0


def _worth(script: Path) -> dict[str, int]:
    """The names of the script's by which something is multiplied, and that speak of what an action was worth; and the last line of it."""
    found: dict[str, int] = {}
    products = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
    for node in products:
        for side in (node.left, node.right):
            plain = next((part for part in ast.walk(side) if isinstance(part, ast.Name)), None) if not isinstance(side, ast.BinOp) else None
            if plain is not None and _WORTH.search(plain.id) and not _COST.search(plain.id):
                found[plain.id] = max(node.lineno, found.get(plain.id, node.lineno))
    return found
