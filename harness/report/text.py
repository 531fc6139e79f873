"""Terminal text of a run and of a specimen, at most 80 columns wide where the content lets it."""

from __future__ import annotations

import difflib
import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from harness.catalog.load import Bug
from harness.catalog.schema import Parameter, Rule
from harness.evidence.judge import Check
from harness.runs.report import RunReport
from harness.script import read

_BARS = "▁▂▃▄▅▆▇█"
_CURVE_WIDTH = 36
_LONG = 240
_WIDTH = 79


def sparkline(values: Sequence[float | None], width: int = _CURVE_WIDTH) -> str:
    """A loss curve in one line: the mean of each of `width` stretches, lowest to highest; `x` where it is not finite.

    >>> sparkline([0.0, 1.0, float("nan"), 2.0])
    '▁▅x█'
    """
    known = [value for value in values if value is not None]
    size = max(1, math.ceil(len(known) / width))
    means = [math.fsum(part) / len(part) for part in (known[at:at + size] for at in range(0, len(known), size))]
    finite = [mean for mean in means if math.isfinite(mean)]
    if not finite:
        return "x" * len(means)
    low, high = min(finite), max(finite)
    span = (high - low) or 1.0
    return "".join(_BARS[int((mean - low) / span * (len(_BARS) - 1) + 0.5)] if math.isfinite(mean) else "x" for mean in means)


def run(report: RunReport) -> str:
    """What a run showed: the curve, the exception, every rule with its measured figures, the verdict."""
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items()
                         if name in (report.framework, "transformers") and version)
    lines = ["", f"{report.bug} {report.variant}: {report.title}", f"  {report.script} ({versions})"]
    known = [loss for loss in report.losses if loss is not None]
    if known:
        lines.append(f"  loss {known[0]:.3f} -> {known[-1]:.3f} in {len(report.losses)} steps  {sparkline(known)}")
    if report.exception:
        where = f"line {report.exception.line}: {report.exception.source}" if report.exception.line else "outside the script"
        lines += _wrapped(f"{report.exception.type} in stage {report.exception.stage}, {where}", "  ", "    ")
    lines.append("")
    for proof in report.verdict.proofs:
        lines += _wrapped(proof.says or "it learns", f"  {'[x]' if proof.holds else '[ ]'} ", " " * 6)
        lines += [line for check in proof.checks for line in _wrapped(_check(check), " " * 6, " " * 10)]
    if not report.verdict.proofs:
        lines.append("  no rule of bug.toml speaks about these parameters")
    lines += ["", f"  {verdict_line(report)}", f"  own work {report.own_s:.1f} s, imports {report.imports_s:.1f} s"]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False)


def verdict_line(report: RunReport) -> str:
    """The verdict in a sentence."""
    words = {"shown": "SHOWN: the symptom is real, and this is the evidence.", "not shown": "NOT SHOWN: this run lacks the evidence above.",
             "learnt": "LEARNT: the fixed script trains, and the symptom is gone.",
             "did not learn": "DID NOT LEARN: the fixed script misses what is marked above."}
    return words[report.verdict.word]


def _check(check: Check) -> str:
    mark = "" if check.holds else "   <- not so"
    return f"{check.fact} = {_short(check.measured)}   wanted {_short(check.wanted)}{mark}"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join(str(value).split())
    return text if len(text) <= _LONG else text[:_LONG] + " ..."


def kind(parameter: Parameter) -> str:
    """A parameter's type and range, as `float, 1e-06 to 1`."""
    if parameter.choices:
        return f"{parameter.type}, one of {', '.join(map(str, parameter.choices))}"
    if parameter.min is None and parameter.max is None:
        return parameter.type
    form = "{:.0f}" if parameter.type == "int" else "{:g}"
    low = "" if parameter.min is None else form.format(parameter.min)
    high = "" if parameter.max is None else form.format(parameter.max)
    return f"{parameter.type}, {low} to {high}".rstrip()


def rules(evidence: Sequence[Rule], framework: str) -> Iterator[str]:
    """One line for each rule that can apply to a framework."""
    for rule in evidence:
        if rule.when.get("framework", framework) != framework:
            continue
        when = ", ".join(f"{key} {value}" for key, value in rule.when.items() if key != "framework")
        yield f"  - {rule.says}" + (f" ({when})" if when else "")


def diff(bug: Bug, framework: str) -> str:
    """Unified diff from the broken to the fixed script."""
    before, after = bug.path(framework, "broken"), bug.path(framework, "fixed")
    names = [f"{path.parent.parent.name}/{path.parent.name}/{path.name}" for path in (before, after)]
    old, new = (read(path).splitlines(keepends=True) for path in (before, after))
    return "".join(difflib.unified_diff(old, new, names[0], names[1]))
