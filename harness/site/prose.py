"""The prose pages under docs/: their languages, the marks in them, and which translations lag behind their English source."""

from __future__ import annotations

import hashlib
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from harness.paths import ROOT
from harness.site.text import LANGUAGES

DOCS = ROOT / "docs"
MARK = re.compile(r"^<!-- zoo:(?P<name>[\w-]+) -->$", re.MULTILINE)
_FRONT = re.compile(r"\A---\n(?P<front>.*?)\n---\n+", re.DOTALL)
_HASH = re.compile(r"^source_hash: *(?P<hash>\w+) *$", re.MULTILINE)
_SUFFIX = re.compile(r"\.(" + "|".join(LANGUAGES) + r")\.md$")
_TITLE = re.compile(r"^# (?P<title>.+)$", re.MULTILINE)
_HINT = re.compile(r'^\?\?\? question "(?P<title>[^"]+)"\n(?P<text>(?:(?:    .*)?\n)+)', re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """A page in one language. `name`: its English path under docs/; `text`: without front matter; `hash`: as its translator stored it."""

    name: str
    language: str
    text: str
    hash: str

    @property
    def title(self) -> str:
        """Its heading."""
        found = _TITLE.search(self.text)
        return found["title"].strip() if found else self.name

    @property
    def intro(self) -> str:
        """What stands between the heading and the first mark."""
        body = self.text[found.end():] if (found := _TITLE.search(self.text)) else self.text
        return MARK.split(body)[0].strip()

    @property
    def hints(self) -> list[tuple[str, str]]:
        """Title and text of each folded hint, in order."""
        return [(found["title"], textwrap.dedent(found["text"]).strip()) for found in _HINT.finditer(self.text + "\n")]

    def before(self, mark: str) -> str:
        """The prose of the section that a mark stands in, above the mark, without its heading."""
        above = self.text.partition(f"<!-- zoo:{mark} -->")[0]
        section = re.split(r"^## .*$", above, flags=re.MULTILINE)[-1]
        return MARK.sub("", section).strip()


def names() -> list[str]:
    """Every English page, by its path under docs/."""
    return sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md") if not _SUFFIX.search(path.name))


def path(name: str, language: str) -> Path:
    """Where a page in a language is, or would be."""
    return DOCS / name if language == "en" else DOCS / f"{name.removesuffix('.md')}.{language}.md"


def read(name: str, language: str) -> Page | None:
    """A page in a language, None where there is none."""
    file = path(name, language)
    if not file.exists():
        return None
    text = file.read_text(encoding="utf-8")
    front = _FRONT.match(text)
    stored = _HASH.search(front["front"]) if front else None
    return Page(name, language, text[front.end():] if front else text, stored["hash"] if stored else "")


def english_or(name: str, language: str) -> Page:
    """A page in a language, or its English source where it is not translated. Raises `KeyError` where there is no such page."""
    found = read(name, language) or read(name, "en")
    if found is None:
        raise KeyError(name)
    return found


def source_hash(name: str) -> str:
    """What a translation of today's English page stores."""
    source = read(name, "en")
    assert source is not None
    return hashlib.sha256(source.text.encode()).hexdigest()[:12]


def states() -> dict[tuple[str, str], str]:
    """(page, language) -> `current`, `lagging` or `missing`, for every page in every language but English."""
    found = {}
    for name in names():
        wanted = source_hash(name)
        for language in LANGUAGES[1:]:
            page = read(name, language)
            found[name, language] = "missing" if page is None else "current" if page.hash == wanted else "lagging"
    return found


def strays() -> list[str]:
    """Translations whose English source is gone."""
    known = set(names())
    return sorted(str(found.relative_to(DOCS)) for found in DOCS.rglob("*.md")
                  if _SUFFIX.search(found.name) and _SUFFIX.sub(".md", str(found.relative_to(DOCS))) not in known)


def stamp(name: str, language: str) -> None:
    """Store in a translation that it says what its English source says now. Raises `KeyError` where there is no translation."""
    page = read(name, language)
    if page is None:
        raise KeyError(name)
    path(name, language).write_text(f"---\nsource_hash: {source_hash(name)}\n---\n\n{page.text}", encoding="utf-8")
