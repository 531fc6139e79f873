"""What each mark of a prose page stands for. Adding a mark is adding a function here, named after it."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.catalog.load import Bug
from harness.checks.base import WALK
from harness.errors import SiteError
from harness.paths import ROOT
from harness.site import prose, render
from harness.site.executed import Shown
from harness.site.text import Words

FIGURES = ROOT / "docs" / "figures.json"
_CODE = re.compile(r"[A-Z]\d{3}")


@dataclass(frozen=True)
class Site:
    """Everything the pages are made of: the specimens, and what was executed, by specimen and framework."""

    bugs: tuple[Bug, ...]
    shown: dict[tuple[str, str], Shown]

    def of(self, bug: Bug) -> dict[str, Shown]:
        """Framework -> what was executed, in the specimen's order."""
        return {framework: self.shown[bug.id, framework] for framework in bug.frameworks}


def assemble(page: prose.Page, site: Site, words: Words) -> str:
    """The page's Markdown with its marks replaced. Raises `SiteError` for a mark that nothing stands behind."""
    bug = next((bug for bug in site.bugs if page.name == f"bugs/{bug.id}.md"), None)

    def replace(found: re.Match[str]) -> str:
        name = found["name"]
        if bug is not None and name in _OF_A_BUG:
            return _OF_A_BUG[name](bug, site.of(bug), words)
        if name in _OF_THE_SITE:
            return _OF_THE_SITE[name](site, words)
        raise SiteError(f"docs/{page.name} ({page.language}): nothing stands behind the mark zoo:{name}")

    return prose.MARK.sub(replace, page.text)


def _tabs(make: Callable[[str, Shown], str], shown: dict[str, Shown]) -> str:
    return render.tabs([(framework, make(framework, done)) for framework, done in shown.items()])


def _broken(_bug: Bug, shown: dict[str, Shown], words: Words) -> str:
    return _tabs(lambda _framework, done: render.notebook(done.broken.notebook.cells, words), shown)


def _diagnosis(_bug: Bug, shown: dict[str, Shown], _words: Words) -> str:
    return _tabs(lambda framework, done: render.diagnosis(done, framework), shown)


def _fix(bug: Bug, shown: dict[str, Shown], words: Words) -> str:
    return _tabs(lambda framework, done: render.fix(bug, framework, done, words), shown)


def _curve(_bug: Bug, shown: dict[str, Shown], words: Words) -> str:
    return _tabs(lambda _framework, done: render.curve(done, words), shown)


def downloads(bug: Bug, framework: str, language: str) -> dict[str, str]:
    """Label (English) -> file name under downloads/ of everything that a framework's pair of scripts offers."""
    stem = f"{bug.id}-{framework}"
    return {"Exercise (notebook)": f"{stem}-exercise-{language}.ipynb",
            "Walkthrough (executed notebook)": f"{stem}-walkthrough-{language}.ipynb",
            "broken.py": f"{stem}-broken.py", "fixed.py": f"{stem}-fixed.py"}


def _downloads(bug: Bug, shown: dict[str, Shown], words: Words) -> str:
    def buttons(framework: str) -> str:
        return "\n".join(f"[{words(label)}](../downloads/{name}){{ .md-button download={name} }}"
                         for label, name in downloads(bug, framework, words.language).items())

    said = f"## {words('Downloads')}\n\n" + render.tabs([(framework, buttons(framework)) for framework in shown])
    subtitles = sorted((ROOT / "docs" / "subtitles").glob(f"{bug.id}.*.srt"))
    wanted = [path for path in subtitles if words.language in ("en", path.name.split(".")[1].removeprefix("en-"))]
    if wanted:
        links = " ".join(f"[{path.name}](../subtitles/{path.name}){{ .md-button download={path.name} }}" for path in wanted)
        said += f"\n\n{words('A narrated walkthrough, as bilingual subtitles:')}\n\n{links}"
    return said


def _gallery(site: Site, words: Words) -> str:
    cards = []
    for bug in site.bugs:
        page = prose.english_or(f"bugs/{bug.id}.md", words.language)
        frameworks = ", ".join(render.NAMES[name] for name in bug.frameworks)
        first = re.split(r"(?<=[.!?])\s|(?<=[。！？])", " ".join(page.intro.split()), maxsplit=1)[0]
        cards.append(f"-   **[{page.title}](bugs/{bug.id}.md)**\n\n    {first}\n\n    `{bug.id}` {frameworks}")
    return '<div class="grid cards" markdown>\n\n' + "\n\n".join(cards) + "\n\n</div>"


def _checks(_site: Site, words: Words) -> str:
    by_stage: dict[str, list[str]] = {}
    for code, stage in check_stages().items():
        page = prose.english_or(f"checks/{code}.md", words.language)
        by_stage.setdefault(stage, []).append(f"| [{code}]({code}.md) | {page.title.partition(': ')[2] or page.title} |")
    parts = []
    for stage in WALK:
        if stage in by_stage:
            head = f"| {words('code')} | {words('what it finds')} |\n|---|---|"
            parts.append(f"## {words(stage)}\n\n" + "\n".join([head, *sorted(by_stage[stage])]))
    return "\n\n".join(parts)


def _checks_of(stage: str, _site: Site, words: Words) -> str:
    between, end = ("、", "。") if words.language == "zh" else (", ", ".")
    return between.join(f"[{code}](checks/{code}.md)" for code, of in sorted(check_stages().items()) if of == stage) + end


def check_stages() -> dict[str, str]:
    """Code of each check -> the stage of the pipeline it belongs to."""
    from harness.checks.base import all_checks

    return {check.code: check.stage for check in all_checks()}


def _then_and_now(site: Site, words: Words) -> str:
    parts = []
    for bug in site.bugs:
        page = prose.english_or(f"bugs/{bug.id}.md", words.language)
        parts.append(f"### [{page.title}](bugs/{bug.id}.md)\n\n{render.messages(bug.file.messages, words)}")
    return "\n\n".join(parts)


def _lookup(_site: Site, words: Words) -> str:
    from harness.site import lookup

    return lookup.html(words)


def _figures(_site: Site, words: Words) -> str:
    found = json.loads(FIGURES.read_text(encoding="utf-8"))
    rows = []
    for key, run in found["reproduction"].items():
        bug, framework, variant = key.split()
        title = prose.english_or(f"bugs/{bug}.md", words.language).title
        rows.append([f"[{bug}](bugs/{bug}.md) {title}", render.NAMES[framework], words(variant), f"{run['held']}/{run['runs']}",
                     _spread(run.get("loss.last_mean")), _spread(run.get("evaluation.accuracy"))])
    versions = ", ".join(f"{name} {version.partition('+')[0]}" for name, version in found["versions"].items())
    said = words("Measured on {date} on {cores} cores with {versions}. Losses and accuracies: lowest / median / highest.",
                 date=found["date"], cores=found["cores"], versions=versions)
    head = [words(name) for name in (
        "specimen", "framework", "script", "seeds that did as they should", "mean loss of the last steps", "accuracy")]
    return f"{said}\n\n{render.table(head, rows)}"


def _spread(values: dict[str, Any] | None) -> str:
    return "" if not values else " / ".join(f"{float(values[name]):.2f}" for name in ("min", "median", "max"))


_OF_A_BUG: dict[str, Callable[[Bug, dict[str, Shown], Words], str]] = {
    "summary": render.summary,
    "command": lambda bug, _shown, words: render.command(bug, words),
    "parameters": lambda bug, _shown, words: render.parameters(bug, words),
    "broken": _broken,
    "diagnosis": _diagnosis,
    "fix": _fix,
    "curve": _curve,
    "messages": lambda bug, _shown, words: render.messages(bug.file.messages, words),
    "downloads": _downloads,
}
_OF_THE_SITE: dict[str, Callable[[Site, Words], str]] = {
    "gallery": _gallery,
    "checks": _checks,
    **{f"checks-of-{stage}": functools.partial(_checks_of, stage) for stage in WALK},
    "then-and-now": _then_and_now,
    "lookup": _lookup,
    "figures": _figures,
}
