"""The folder that MkDocs builds the site from: prose with its marks replaced, downloads, style sheets."""

from __future__ import annotations

import filecmp
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from harness.catalog.load import everything
from harness.errors import SiteError
from harness.paths import ROOT
from harness.site import exercise, prose
from harness.site.executed import collect
from harness.site.pages import Site, assemble, downloads
from harness.site.text import LANGUAGES, words

TARGET = ROOT / "build" / "docs"
_ASSETS = Path(__file__).resolve().parent / "theme" / "assets"


def generate(say: Callable[[str], None] = lambda _text: None, target: Path = TARGET) -> Path:
    """Write the whole folder, executing first what is not kept; files that did not change are not touched.

    Raises `SiteError` where a page, a mark or an execution is not what it says.
    """
    stray = prose.strays()
    if stray:
        raise SiteError(f"translations without an English page: {', '.join(stray)}; delete them or add the source")
    bugs = tuple(everything())
    site = Site(bugs, collect(bugs, say))
    wanted: dict[str, str | bytes | Path] = {}
    for name in prose.names():
        for language in LANGUAGES:
            page = prose.read(name, language)
            if page is not None:
                file = str(prose.path(name, language).relative_to(prose.DOCS))
                wanted[file] = _with_banner(page, assemble(page, site, words(language)))
    wanted |= _downloads(site) | _lookup()
    wanted |= {f"assets/{path.name}": path for path in sorted(_ASSETS.iterdir()) if path.is_file()}
    wanted |= {f"subtitles/{path.name}": path for path in sorted((prose.DOCS / "subtitles").glob("*.srt"))}
    _write(wanted, target)
    return target


def _with_banner(page: prose.Page, text: str) -> str:
    """A page that lags says so beneath its heading (above it, MkDocs would no longer find the heading)."""
    if page.language == "en" or page.hash == prose.source_hash(page.name):
        return text
    said = words(page.language)
    banner = f'!!! warning "{said("This page lags behind")}"\n\n    {said("The English page has changed since this one was written.")}'
    heading, _, rest = text.partition("\n")
    return f"{heading}\n\n{banner}\n{rest}"


def _downloads(site: Site) -> dict[str, str | bytes | Path]:
    from nbformat.v4 import writes  # the one without validation, which tests make once

    found: dict[str, str | bytes | Path] = {}
    for bug in site.bugs:
        for framework, shown in site.of(bug).items():
            for language in LANGUAGES:
                made = (exercise.exercise(bug, framework, language), exercise.walkthrough(bug, framework, language, shown))
                names = list(downloads(bug, framework, language).values())
                found |= {f"downloads/{name}": writes(one) + "\n" for name, one in zip(names, made, strict=False)}
            found[f"downloads/{names[2]}"] = bug.path(framework, "broken")
            found[f"downloads/{names[3]}"] = bug.path(framework, "fixed")
    return found


def _lookup() -> dict[str, str | bytes | Path]:
    from harness.site import lookup

    return {f"assets/lookup-{language}.json": json.dumps(lookup.document(words(language)), ensure_ascii=False) for language in LANGUAGES}


def _write(wanted: dict[str, str | bytes | Path], target: Path) -> None:
    for name, content in wanted.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            if not (path.exists() and filecmp.cmp(content, path, shallow=False)):
                shutil.copyfile(content, path)
            continue
        data = content.encode() if isinstance(content, str) else content
        if not (path.exists() and path.read_bytes() == data):
            path.write_bytes(data)
    for old in [path for path in target.rglob("*") if path.is_file() and str(path.relative_to(target)) not in wanted]:
        old.unlink()
