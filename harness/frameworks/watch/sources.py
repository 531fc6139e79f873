"""The lines that labels and inputs went through before they came to the loss, for what was seen of a script."""

from __future__ import annotations

import ast

from harness.checks.data_facts import SourceFacts
from harness.checks.observation import Observation
from harness.checks.raised import LABELS
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import numbering, parsed, windows
from harness.frameworks.watch.bindings import Path
from harness.frameworks.watch.provenance import Text
from harness.frameworks.watch.sites import site

_MOST = 20
_INPUTS = ("input_ids", "pixel_values", "input_values", "x")
Callers = dict[str, tuple[int, ...]]
Start = tuple[ast.expr, Path]


def of(seen: Observation, callers: Callers | None = None) -> dict[str, list[SourceFacts]]:
    """For `labels` and `inputs` the lines, the latest first; without what cannot be told. Lines of notebooks are not read. `numbered`: the
    line on which a function of the script gives names their numbers each time it is called; `parted`: where rows are split at random.

    `callers`: the lines of the script that were under way when a place was first come to.
    """
    found = _ways(seen, callers or {})
    lines = {"numbered": numbering.anew(seen.script), "parted": windows.parted(seen.script)} if found else {}
    return found | {name: [SourceFacts(site=place, kind="made")] for name, line in lines.items() if (place := site(line)) is not None}


def _ways(seen: Observation, callers: Callers) -> dict[str, list[SourceFacts]]:
    # The loss of Keras is named where the model is compiled, which tells nothing of its data.
    called = next((call.site for call in seen.loss_calls if call.site), None)
    starts = {"fit": seen.sites.get("fit"), "loss": seen.sites.get("loss") or called, "trainer": seen.sites.get("trainer")}
    for name, start in starts.items():
        found = _from(start, _under_way(callers, name, start)) if start is not None and start.cell is None else {}
        if found:
            asked = "other_scale" if "other_scale" in seen.sites else "evaluation"
            held = asked == "other_scale" or (
                (seen.evaluation.scale is not None or seen.evaluation.shared is not None) and "held" not in found)
            return found | (_given("held", seen.sites.get(asked), callers.get(asked, ())) if held else {})
    return _given("inputs", seen.sites.get("forward"), callers.get("forward", ()))  # a loss written by hand tells nothing of its labels


def _under_way(callers: Callers, name: str, start: Site) -> tuple[int, ...]:
    """The lines that were under way at a place; what else was come to on the same line was come to from the same ones."""
    return callers.get(name) or next((lines for lines in callers.values() if lines[:1] == (start.line,)), ())


def _given(what: str, start: Site | None, callers: tuple[int, ...]) -> dict[str, list[SourceFacts]]:
    """What a model is given on a line: the argument of a call there that came the longest way."""
    if start is None or start.cell is not None:
        return {}
    text = Text(parsed.tree(start.file), callers)
    given = [next(iter([*call.args, *(word.value for word in call.keywords)]), None) for call in text.calls(start.line)]
    ways = [_read(text, start, value, ()) for value in given if value is not None]
    longest = max(ways, key=len, default=[])
    return {what: longest} if longest else {}


def _from(start: Site, callers: tuple[int, ...]) -> dict[str, list[SourceFacts]]:
    text = Text(parsed.tree(start.file), callers)
    for call in text.calls(start.line):
        read = {name: max(([step for value, path in _listed(choice) for step in _read(text, start, value, path)] for choice in choices),
                          key=len) for name, choices in _parts(text, call).items()}
        if read.get("labels"):
            return {name: steps for name, steps in read.items() if steps}
    return {}


def _listed(start: Start) -> list[Start]:
    """Of several inputs, written as a list or a dict, each by itself."""
    value, path = start
    parts = value.elts if isinstance(value, ast.List) else value.values if isinstance(value, ast.Dict) else []
    return [(part, ()) for part in parts] if parts and not path else [start]


def _read(text: Text, start: Site, value: ast.expr, path: Path) -> list[SourceFacts]:
    found = [(step, site((start.file, step.line, step.function))) for step in text.steps(value, path)[:_MOST]]
    return [SourceFacts(site=place, kind=step.kind, by=step.by) for step, place in found if place is not None]


def _parts(text: Text, call: ast.Call) -> dict[str, list[Start]]:
    """What a call is given as labels and as inputs: a loss, a model that computes its own, a `fit`, a Trainer."""
    words = {word.arg: word.value for word in call.keywords if word.arg}
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "compile":
        return {}
    if "train_dataset" in words:
        given, held = words["train_dataset"], words.get("eval_dataset")
        others: dict[str, list[Start]] = {"held": [(held, ("item", key)) for key in _INPUTS]} if held is not None else {}
        return {"labels": [(given, ("item", key)) for key in LABELS], "inputs": [(given, ("item", key)) for key in _INPUTS], **others}
    if name == "fit":
        x, y = words.get("x", next(iter(call.args), None)), words.get("y", call.args[1] if len(call.args) > 1 else None)
        if x is None:
            return {}
        whole: Path = ()
        held = words.get("validation_data")
        beside: dict[str, list[Start]] = {"held": [(held, (0,)), (held, ("item", 0))]} if held is not None else {}
        return {"labels": [(y, whole) if y is not None else (x, ("item", 1))], "inputs": [(x, whole if y is not None else ("item", 0))],
                **beside}
    together = next((word.value for word in call.keywords if word.arg is None), None)
    if together is not None:
        return {"labels": [(together, (key,)) for key in LABELS], "inputs": [(together, (key,)) for key in _INPUTS]}
    labels = next((words[key] for key in LABELS if key in words), None)
    if labels is None and len(call.args) == 2:
        labels = call.args[1]
    first = next(iter(call.args), None)
    inputs = text.asked(first) if first is not None else next((words[key] for key in words if key not in LABELS), None)
    return {name: [(value, ())] for name, value in (("labels", labels), ("inputs", inputs)) if value is not None}

