"""The search index: one for each language instead of one for all, without long program output, so that a page loads little."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from harness.site.text import LANGUAGES

_BLOCK = re.compile(r"<pre>.*?</pre>", re.DOTALL)
_LONGEST_BLOCK = 400


def divide(site: Path) -> None:
    """Write `search/search_index.json` (English) and `LANG/search/search_index.json`, whose places count from the language's folder.

    The template tells the theme's script where its language's folder is (`theme/main.html`).
    """
    found = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    by_language: dict[str, list[dict[str, Any]]] = {language: [] for language in LANGUAGES}
    for entry in found["docs"]:
        first, slash, rest = entry["location"].partition("/")
        own = slash and first in LANGUAGES[1:]
        place = {"location": rest if own else entry["location"], "text": shortened(entry["text"])}
        by_language[first if own else "en"].append(entry | place)
    for language, entries in by_language.items():
        target = (site if language == "en" else site / language) / "search" / "search_index.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        config = found["config"] | {"lang": list(dict.fromkeys(["en", language]))}
        target.write_text(json.dumps({"config": config, "docs": entries}, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def shortened(text: str) -> str:
    """Text without long blocks of code or output; messages and commands stay.

    >>> shortened("a<pre>" + "b" * 500 + "</pre>c<pre>d</pre>")
    'ac<pre>d</pre>'
    """
    return _BLOCK.sub(lambda block: block[0] if len(block[0]) <= _LONGEST_BLOCK else "", text)
