"""Narrated walkthroughs as bilingual subtitles: English with one other language, timed by how fast people read."""

from __future__ import annotations

import tomllib
from pathlib import Path

from harness.errors import SiteError
from harness.site.prose import DOCS
from harness.site.text import LANGUAGES

FOLDER = DOCS / "subtitles"
# Characters a second that subtitle guidelines grant an adult reader; a line holds two languages, the slower of which decides.
_READING = {"en": 15.0, "it": 15.0, "ru": 14.0, "zh": 6.0, "ko": 8.0}
_SHORTEST_S, _LONGEST_S, _GAP_S = 1.6, 8.0, 0.2


def read(path: Path) -> list[dict[str, str]]:
    """The lines of a narration (`bugNN.toml`, one `[[line]]` with a text per language each).

    Raises `SiteError` where a line lacks a language, is empty, or is too long to be read in the time a subtitle may stand.
    """
    found: list[dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8"))["line"]
    for number, line in enumerate(found, 1):
        for language in LANGUAGES:
            text = line.get(language, "").strip()
            if not text:
                raise SiteError(f"{path.name}, line {number}: no text in {language}")
            if len(text) / _READING[language] > _LONGEST_S:
                raise SiteError(f"{path.name}, line {number} ({language}): {len(text)} characters for {_LONGEST_S:g} s; split it")
    return found


def srt(lines: list[dict[str, str]], language: str) -> str:
    """SubRip text: number, times, the English line, the other language's line.

    >>> print(srt([{"en": "Look at the batch.", "it": "Guarda il batch."}], "it"))
    1
    00:00:00,000 --> 00:00:01,600
    Look at the batch.
    Guarda il batch.
    <BLANKLINE>
    """
    parts, begun = [], 0.0
    for number, line in enumerate(lines, 1):
        wanted = max(len(line[name]) / _READING[name] for name in ("en", language))
        ended = begun + min(max(wanted, _SHORTEST_S), _LONGEST_S)
        parts.append(f"{number}\n{_clock(begun)} --> {_clock(ended)}\n{line['en']}\n{line[language]}\n")
        begun = ended + _GAP_S
    return "\n".join(parts)


def _clock(seconds: float) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02d}:{whole // 60_000 % 60:02d}:{whole // 1000 % 60:02d},{whole % 1000:03d}"


def write() -> list[Path]:
    """Write `bugNN.en-LANG.srt` for every narration and language; the files written."""
    made = []
    for source in sorted(FOLDER.glob("bug*.toml")):
        lines = read(source)
        for language in LANGUAGES[1:]:
            target = FOLDER / f"{source.stem}.en-{language}.srt"
            target.write_text(srt(lines, language), encoding="utf-8")
            made.append(target)
    return made
