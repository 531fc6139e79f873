"""`-p name=value`: typed, ranged, and with the zoo's own names for checkpoints resolved."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence

from harness.catalog.load import Bug
from harness.catalog.schema import Parameter, Value, Variant
from harness.errors import BadParameter


def parse(bug: Bug, framework: str, variant: Variant, pairs: Sequence[str]) -> dict[str, Value]:
    """`["learning_rate=1e-3"]` -> `{"learning_rate": 0.001}`; the last of a repeated name counts.

    Raises `BadParameter` for text without `=`, a name the script does not have, a wrong type, a value out of range.
    """
    names = list(bug.defaults(framework, variant))
    found: dict[str, Value] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        name = name.strip()
        if not sign:
            raise BadParameter(f"-p {pair}: write it as name=value, for example -p seed=1")
        if name not in names or name not in bug.file.parameters:
            close = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(names)}"
            raise BadParameter(f"{bug.id} ({framework}) has no parameter {name!r}; {hint}")
        found[name] = convert(name, text.strip(), bug.file.parameters[name])
    return found


def convert(name: str, text: str, parameter: Parameter) -> Value:
    """The value a text means for a parameter. Raises `BadParameter`."""
    value = _typed(name, text, parameter.type)
    if parameter.choices is not None and value not in parameter.choices:
        raise BadParameter(f"{name}={text}: must be one of {', '.join(map(str, parameter.choices))}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = parameter.min, parameter.max
        if not math.isfinite(value) or (low is not None and value < low) or (high is not None and value > high):
            raise BadParameter(f"{name}={text}: out of range, must be {_range(low, high)} ({parameter.help})")
    return value


def _typed(name: str, text: str, kind: str) -> Value:
    if kind == "str":
        return text
    if kind == "bool":
        lowered = text.lower()
        if lowered in {"true", "1", "yes", "on"}:
            return True
        if lowered in {"false", "0", "no", "off"}:
            return False
        raise BadParameter(f"{name}={text}: must be true or false")
    try:
        return int(text) if kind == "int" else float(text)
    except ValueError:
        wanted = "a whole number" if kind == "int" else "a number such as 5e-5"
        raise BadParameter(f"{name}={text}: must be {wanted}") from None


def _range(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high:g}" if high is not None else "a finite number"
    return f"from {low:g} to {high:g}" if high is not None else f"at least {low:g}"
