"""A diagnosis for the terminal: the walk, the finding with its source line and evidence, the change that mends it. 80 columns."""

from __future__ import annotations

import textwrap

from harness.checks.base import Result
from harness.diagnosis.record import Diagnosis
from harness.report.text import sparkline

_WIDTH = 78
_MARKS = {"clean": "ok", "found": "FOUND", "not reached": "not reached", "not judged": "-"}


def render(found: Diagnosis, *, details: bool = False) -> str:
    """The whole report; with `details` also every check with its state and reason."""
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items()
                         if version and name in ("torch", "transformers", "tensorflow", "tf_keras", "keras"))
    lines = ["", f"{found.script}  ({versions or found.framework})", ""]
    by_stage = {stage.stage: [check for check in found.checks if check.stage == stage.stage] for stage in found.walk}
    for stage in found.walk:
        titles = [f"{check.code} {check.title}" for check in by_stage[stage.stage] if check.state == "found"]
        note = titles[0] if titles else (f"{stage.clean} checks" if stage.clean else "")
        lines.append(f"  {stage.stage:<11} {_MARKS[stage.state]:<12} {note}"[:_WIDTH])
        if details:
            own = by_stage[stage.stage]
            lines += [f"      {check.code} {check.state}" + (f": {check.reason}" if check.reason else "") for check in own]
    lines.append("")
    if found.first is not None:
        lines += _finding(found.first)
        for other in found.more:
            where = other.finding.site if other.finding else None
            place = f" ({where.where})" if where else ""
            lines += textwrap.wrap(f"also {other.code}: {other.finding.message if other.finding else other.title}{place}", _WIDTH,
                                   initial_indent="  ", subsequent_indent="    ")
    else:
        lines += textwrap.wrap(without_finding(found), _WIDTH, initial_indent="  ", subsequent_indent="  ")
    losses = [loss for loss in found.losses if loss is not None]
    if losses:
        lines += ["", f"  loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} watched steps  {sparkline(losses, 30)}"]
    if found.training is not None:
        lines += ["", *textwrap.wrap(f"in another training than the script's first, which is clean: {found.training.where}", _WIDTH,
                                     initial_indent="  ", subsequent_indent="  ")]
    lines += ["", f"  watched for {found.seconds:.1f} s, {found.imports_s:.1f} s of it imports ({found.stopped or 'finished'})"]
    return "\n".join(lines) + "\n"


def without_finding(found: Diagnosis) -> str:
    """The verdict in a sentence, where nothing was found."""
    if found.verdict == "clean":
        return f"Nothing found; {found.reason}." if found.reason else "Nothing found: what was watched trains as it should."
    why = found.reason or f"{found.stopped or 'not enough was seen'}; it came as far as {found.reached}"
    return f"No verdict: {why}."


def _finding(result: Result) -> list[str]:
    finding = result.finding
    assert finding is not None
    lines = textwrap.wrap(f"{result.code}  {result.title}", _WIDTH, subsequent_indent="      ")
    if finding.site:
        lines += [f"  {finding.site.where}", f"    {finding.site.source}" if finding.site.source else ""]
    lines += ["", *textwrap.wrap(finding.message, _WIDTH, initial_indent="  ", subsequent_indent="  ")]
    if finding.evidence:
        lines += ["", "  Evidence"]
        for item in finding.evidence:
            lines += textwrap.wrap(item, _WIDTH, initial_indent="    - ", subsequent_indent="      ")
    lines += ["", "  Change"]
    for line in finding.remedy.splitlines():
        lines += textwrap.wrap(line, _WIDTH, initial_indent="    ", subsequent_indent="    ", drop_whitespace=False) or [""]
    lines += ["", f"  More: docs/checks/{result.code}.md"]
    return [line for number, line in enumerate(lines) if line or number == 0 or lines[number - 1]]
