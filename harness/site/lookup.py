"""Error lookup: a pasted message -> the checks and specimens that it points to. `theme/assets/lookup.js` does the same in the browser."""

from __future__ import annotations

import functools
import html as markup
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.catalog.load import Bug, everything
from harness.checks.base import all_checks
from harness.errors import SiteError
from harness.site import prose
from harness.site.text import Words

MOST = 3
# What a specimen itself is documented to say ranks above what a check takes for its own.
_OWN = 1000
# Of a long paste the beginnings of lines (some patterns take their time over long ones), the end, and there the last exceptions.
_LINE, _LONGEST, _EXCEPTIONS = 1000, 50_000, 5
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_HEADER = re.compile(r"^[ \t]*(?:E[ \t]+)?(?:[\w.]+\.)?\w*(?:Error|Exception|Warning)\d*: ", re.MULTILINE)

_FLAGS = re.compile(r"\(\?([ims]+)\)")
_TOKEN = re.compile(r"""
    (?P<escape> \\. )
  | (?P<set> \[\^?\]?(?:\\.|[^\]\\])*\] )
  | (?P<name> \(\?P<\w+> ) | (?P<again> \(\?P=\w+\) )
  | (?P<silent> \(\?<?[=!] ) | (?P<open> \((?:\?:|(?!\?)) ) | (?P<other> \(\? )
  | (?P<close> \) ) | (?P<bar> \| )
  | (?P<repeat> (?:[*+?]|\{\d+(?:,\d*)?\})[?+]? )
  | (?P<edge> [\^$.] ) | (?P<character> . )
""", re.VERBOSE | re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """A regular expression, for Python and for JavaScript (`pattern`, `flags`), and what it points to; a larger weight is more specific."""

    python: str
    pattern: str
    flags: str
    code: str
    bugs: tuple[str, ...]
    link: str
    weight: int


@dataclass(frozen=True)
class Answer:
    """A check that a message points to, and the specimens that show it."""

    code: str
    bugs: tuple[str, ...]


def entries(bugs: Sequence[Bug]) -> list[Entry]:
    """Every pattern there is: of the checks, of the specimens' evidence, and of what they are documented to say."""
    found: dict[tuple[str, str, int], set[str]] = {}
    for check in all_checks():
        shown = {bug.id for bug in bugs for script in bug.file.scripts if script.check == check.code}
        for pattern in check.messages:
            found.setdefault((check.code, pattern, 0), set()).update(shown)
    for bug in bugs:
        for script in bug.file.scripts:
            said = [rule.exception.message for rule in bug.file.evidence if rule.exception and rule.when.get("framework", script.framework)
                    == script.framework]
            own = [message.pattern for message in bug.file.messages if message.pattern and message.framework == script.framework]
            for pattern, weight in [*((one, 0) for one in said), *((one, _OWN) for one in own)]:
                found.setdefault((script.check, pattern, weight), set()).add(bug.id)
    made = []
    for (code, pattern, extra), ids in found.items():
        source, flags, literal = to_javascript(pattern)
        made.append(Entry(pattern, source, flags, code, tuple(sorted(ids)), f"checks/{code}/", literal + extra))
    return sorted(made, key=lambda entry: (-entry.weight, entry.code, entry.pattern))


def to_javascript(pattern: str) -> tuple[str, str, int]:
    """A pattern's JavaScript source and flags, and how many characters of literal text it asks for at least.

    Raises `SiteError` for what JavaScript does not have.

    >>> to_javascript(r"(?s)size (?P<got>\\d+), (?:a|bcd)?(?P=got)")
    ('size (?<got>\\\\d+), (?:a|bcd)?\\\\k<got>', 's', 7)
    """
    flags = _FLAGS.match(pattern)
    parts: list[str] = []
    groups: list[list[int]] = [[0]]  # of each open group the literal text in its alternatives; the last is the one being read
    silent: list[bool] = []
    last = 0
    for token in _TOKEN.finditer(pattern, flags.end() if flags else 0):
        kind, text = str(token.lastgroup), token[0]
        if kind == "other" or (kind == "escape" and text[1] in "AZaNU") or (kind == "repeat" and len(text) > 1 and text[-1] == "+") or (
                kind == "set" and text.startswith(("[]", "[^]"))):
            raise SiteError(f"the pattern {pattern!r} has {text!r}, which JavaScript does not know; write it in another way")
        if kind in {"name", "silent", "open"}:
            groups.append([0])
            silent.append(kind == "silent")
            last = 0
        elif kind == "close":
            last = min(groups.pop())
            last = 0 if silent.pop() else last
            groups[-1][-1] += last
        elif kind == "bar":
            groups[-1].append(0)
        elif kind == "repeat":
            groups[-1][-1] -= last if text[0] in "*?" or text.startswith(("{0}", "{0,")) else 0
            last = 0
        else:
            last = int(kind == "character" or (kind == "escape" and not text[1].isalnum()))
            groups[-1][-1] += last
        parts.append(text.replace("(?P<", "(?<") if kind == "name" else f"\\k<{text[4:-1]}>" if kind == "again" else text)
    return "".join(parts), flags[1] if flags else "", min(groups[0])


@functools.cache
def _known() -> tuple[Entry, ...]:
    return tuple(entries(everything()))


def find(text: str, known: Iterable[Entry] | None = None) -> list[Answer]:
    """What a message or a whole traceback points to, the most specific first; at most `MOST`. The last exception that tells decides."""
    patterns = _known() if known is None else tuple(known)
    for block in blocks(text):
        hits = [entry for entry in patterns if any(_compiled(entry.python).search(part) for part in block)]
        if hits:
            return _ranked(hits)
    return []


def blocks(text: str) -> list[tuple[str, ...]]:
    """Where to look, in order: each exception's text, the last first, then the whole; each with its class, without, and its first line."""
    lines = _COLOUR.sub("", text).replace("\r", "").strip().split("\n")
    text = "\n".join(line[:_LINE] for line in lines)[-_LONGEST:]
    starts = [found.start() for found in _HEADER.finditer(text)][-_EXCEPTIONS:]
    found: list[tuple[str, ...]] = []
    for part in (*(text[start:].strip() for start in reversed(starts)), text):
        bare = _HEADER.sub("", part, count=1).strip() if _HEADER.match(part) else part
        found.append((part, bare, bare.split("\n")[0].strip()))
    return found


def _ranked(hits: Sequence[Entry]) -> list[Answer]:
    weights: dict[str, int] = {}
    bugs: dict[str, dict[str, int]] = {}
    for entry in hits:
        weights[entry.code] = max(weights.get(entry.code, 0), entry.weight)
        ranks = bugs.setdefault(entry.code, {})
        ranks.update({bug: max(ranks.get(bug, 0), entry.weight) for bug in entry.bugs})
    codes = sorted(weights, key=lambda code: (-weights[code], code))[:MOST]
    return [Answer(code, tuple(sorted(bugs[code], key=lambda bug: (-bugs[code][bug], bug)))) for code in codes]


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def document(words: Words) -> dict[str, Any]:
    """What the browser loads, in one language: patterns, and titles and links (from the folder of assets) of what they point to."""
    bugs = everything()
    known = entries(bugs)
    base = "../" if words.language == "en" else f"../{words.language}/"
    return {
        "patterns": [{"pattern": entry.pattern, "flags": entry.flags, "code": entry.code, "bugs": entry.bugs, "weight": entry.weight}
                     for entry in known],
        "checks": {entry.code: {"title": prose.english_or(f"checks/{entry.code}.md", words.language).title, "link": base + entry.link}
                   for entry in known},
        "bugs": {bug.id: {"title": prose.english_or(f"bugs/{bug.id}.md", words.language).title, "link": f"{base}bugs/{bug.id}/"}
                 for bug in bugs},
    }


def html(words: Words) -> str:
    """The form; `lookup.js` brings it to life."""
    said = {
        "index": f"lookup-{words.language}.json",
        "nothing": words("Nothing here matches. Is the last line of the message among what you pasted?"),
        "failed": words("The list of known messages could not be loaded. Reload the page to try again."),
        "specimens": words("See it happen:"),
    }
    data = " ".join(f'data-{name}="{markup.escape(value)}"' for name, value in said.items())
    without = words("The lookup needs JavaScript. Without it, look for your message in the list of checks.")
    return "\n".join([
        f'<div class="zoo-lookup" {data}>',
        f'<label for="zoo-lookup-text">{markup.escape(words("Your error message, or the whole traceback"))}</label>',
        '<textarea id="zoo-lookup-text" rows="8" spellcheck="false" autocomplete="off" autocapitalize="off"></textarea>',
        '<div class="zoo-lookup-answer" aria-live="polite"></div>',
        f"<noscript><p>{markup.escape(without)}</p></noscript>",
        "</div>",
    ])
