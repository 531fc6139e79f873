"""Every link of the built site leads somewhere, in every language."""

from __future__ import annotations

import html.parser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest

from harness.paths import ROOT
from harness.site import prose
from harness.site.text import LANGUAGES

pytestmark = pytest.mark.site
SITE = ROOT / "site"


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.names.add(value)
            elif key in ("href", "src") and value and not (tag == "link" and dict(attrs).get("rel") == "canonical"):
                self.targets.append(value)


def parsed(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def file_of(address: str) -> Path:
    path = SITE / unquote(urlparse(address).path).lstrip("/")
    return path / "index.html" if address.endswith("/") or path.is_dir() else path


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_broken_link(language: str) -> None:
    folder = SITE if language == "en" else SITE / language
    pages = [path for path in folder.rglob("*.html") if language != "en" or path.relative_to(SITE).parts[0] not in LANGUAGES]
    assert len(pages) >= len(prose.names())
    known: dict[Path, _Page] = {}
    broken = []
    for path in pages:
        own = "http://site/" + str(path.relative_to(SITE).as_posix()).removesuffix("index.html")
        for target in known.setdefault(path, parsed(path)).targets:
            address, anchor = urldefrag(urljoin(own, target))
            if not address.startswith("http://site/"):
                if address.startswith("http") and not address.startswith(("http://127.0.0.1", "http://localhost")):
                    broken.append(f"{path.relative_to(SITE)}: leads outside, {target}")
                continue
            goal = file_of(address)
            if not goal.exists():
                broken.append(f"{path.relative_to(SITE)}: {target}")
            elif anchor and goal.suffix == ".html" and unquote(anchor) not in known.setdefault(goal, parsed(goal)).names | {"__skip"}:
                broken.append(f"{path.relative_to(SITE)}: no anchor {target}")
    assert not broken, "\n".join(broken[:20])
