"""A diagnosis as Markdown and as a self-contained HTML page, from the same record."""

from __future__ import annotations

import html
import math

from harness.checks.base import Result
from harness.diagnosis.record import Diagnosis, StageState
from harness.report.diagnosis_text import without_finding

_WIDTH, _HEIGHT = 480, 120
_STYLE = ("body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
          "table{border-collapse:collapse}td,th{padding:.15rem .8rem .15rem 0;text-align:left}pre{overflow:auto;padding:.6rem;"
          "border:1px solid #8888;border-radius:4px}svg{max-width:100%;height:auto}")


def markdown(found: Diagnosis) -> str:
    """GitHub-flavoured Markdown."""
    lines = [f"# Diagnosis of `{found.script}`", "", "| stage | state | checks |", "|---|---|---|"]
    lines += [f"| {stage.stage} | {stage.state} | {_counts(stage)} |" for stage in found.walk]
    for number, result in enumerate([result for result in (found.first, *found.more) if result]):
        lines += ["", f"## {'' if number == 0 else 'Also: '}{result.code} {result.title}", *_markdown_finding(result)]
    if found.first is None:
        lines += ["", without_finding(found)]
    known = [loss for loss in found.losses if loss is not None]
    if known:
        lines += ["", f"Loss {known[0]:.4g} -> {known[-1]:.4g} in {len(known)} watched steps."]
    lines += ["", "Versions: " + ", ".join(f"{name} {version}" for name, version in found.versions.items() if version) + "."]
    return "\n".join(lines) + "\n"


def _counts(stage: StageState) -> str:
    return f"{stage.clean} clean, {stage.found} found, {stage.skipped} skipped"


def _markdown_finding(result: Result) -> list[str]:
    finding = result.finding
    assert finding is not None
    lines = [""]
    if finding.site:
        lines += [f"`{finding.site.where}`", "", _fenced(finding.site.source), ""]
    lines += [finding.message, ""]
    lines += [f"- {item}" for item in finding.evidence]
    return [*lines, "", "Change:", "", _fenced(finding.remedy)]


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}python\n{text}\n{fence}"


def page(found: Diagnosis) -> str:
    """A whole HTML page without any outside resource; every text from the script is escaped."""
    rows = "".join(f"<tr><td>{html.escape(stage.stage)}</td><td>{html.escape(stage.state)}</td><td>{_counts(stage)}</td></tr>"
                   for stage in found.walk)
    parts = [f"<h1>Diagnosis of <code>{html.escape(found.script)}</code></h1>",
             f"<table><thead><tr><th>stage</th><th>state</th><th>checks</th></tr></thead><tbody>{rows}</tbody></table>"]
    parts += [_html_finding(result) for result in (found.first, *found.more) if result]
    if found.first is None:
        parts.append(f"<p>{html.escape(without_finding(found))}</p>")
    parts.append(_curve(found.losses))
    title = html.escape(f"Diagnosis of {found.script}")
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{title}</title><style>{_STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>\n")


def _html_finding(result: Result) -> str:
    finding = result.finding
    assert finding is not None
    where = ""
    if finding.site:
        where = (f"<p><code>{html.escape(finding.site.where)}</code></p>"
                 f"<pre><code>{html.escape(finding.site.source)}</code></pre>")
    evidence = "".join(f"<li>{html.escape(item)}</li>" for item in finding.evidence)
    return (f"<h2>{result.code} {html.escape(result.title)}</h2>{where}<p>{html.escape(finding.message)}</p><ul>{evidence}</ul>"
            f"<h3>Change</h3><pre><code>{html.escape(finding.remedy)}</code></pre>")


def _curve(losses: list[float | None]) -> str:
    known = [loss for loss in losses if loss is not None and math.isfinite(loss)]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    span = (high - low) or 1.0
    step = _WIDTH / (len(known) - 1)
    points = " ".join(f"{index * step:.1f},{_HEIGHT - (loss - low) / span * _HEIGHT:.1f}" for index, loss in enumerate(known))
    label = f"Loss from {known[0]:.3g} to {known[-1]:.3g} in {len(known)} watched steps"
    return (f'<figure><svg viewBox="0 -4 {_WIDTH} {_HEIGHT + 8}" width="{_WIDTH}" role="img" aria-label="{label}">'
            f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2"/></svg>'
            f"<figcaption>{label}</figcaption></figure>")
