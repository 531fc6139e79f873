"""Notebooks to work in: the exercise (a broken script, the symptom and folded hints) and the walkthrough (all of it, executed)."""

from __future__ import annotations

import copy
from typing import Any

from harness import script
from harness.catalog.load import Bug
from harness.notebooks import build
from harness.report.text import diff
from harness.site import prose
from harness.site.executed import Shown
from harness.site.render import diagnosis, fenced
from harness.site.text import words as words_of


def exercise(bug: Bug, framework: str, language: str) -> Any:
    """The broken script to be mended: nothing is executed, the hints are folded, the last cell says how to check oneself."""
    words = words_of(language)
    page = prose.english_or(f"bugs/{bug.id}.md", language)
    text = script.read(bug.path(framework, "broken"))
    found = build.notebook(text)
    task = words("Run the cells, find the first thing that is wrong, and mend it. Open the hints one at a time.")
    found.cells.insert(0, build.markdown(f"# {page.title}\n\n{page.intro}\n\n{task}"))
    found.cells += [build.markdown(f"<details><summary>{title}</summary>\n\n{hint}\n\n</details>") for title, hint in page.hints]
    check = fenced(f"python -m harness run {bug.id} --fixed --framework {framework}\npython -m harness show {bug.id} --diff", "console")
    found.cells.append(build.markdown(words("How the mended script behaves, and what was changed in it:") + "\n\n" + check))
    return found


def walkthrough(bug: Bug, framework: str, language: str, shown: Shown) -> Any:
    """The whole page as a notebook: the executed broken run, the diagnosis, the cause, the change, the executed fixed run."""
    page = prose.english_or(f"bugs/{bug.id}.md", language)
    words = words_of(language)
    found = build.notebook("", [])
    cause = page.hints[-1] if page.hints else ("", bug.file.cause)
    found.cells = [
        build.markdown(f"# {page.title}\n\n{page.intro}\n\n{page.before('broken')}"), *shown.broken.notebook.cells,
        build.markdown(f"## {words('The diagnosis')}\n\n{page.before('diagnosis')}\n\n{diagnosis(shown, framework)}"),
        build.markdown(f"## {cause[0]}\n\n{cause[1]}"),
        build.markdown(f"## {words('The fix')}\n\n{page.before('fix')}\n\n{fenced(diff(bug, framework), 'diff')}"),
        *_renamed(shown.fixed.notebook.cells)]
    return found


def _renamed(cells: list[Any]) -> list[Any]:
    """Cells under ids of their own: those that both scripts share would appear twice in one notebook."""
    found = copy.deepcopy(cells)
    for cell in found:
        cell.id = build.identity("fixed " + cell.id)
    return found
