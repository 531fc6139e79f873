"""MkDocs hook: before a build, write the folder it is made from; after it, one search index for each language.

So `mkdocs build` and `mkdocs serve` need nothing else.
"""

from __future__ import annotations

import gc
import logging
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority

from harness.errors import HarnessError
from harness.site import search
from harness.site.generate import generate

_SPECIMENS_FIRST = 3  # times the weight of another page in a search

_log = logging.getLogger("mkdocs.hooks.zoo")


def on_startup(command: str, **_: Any) -> None:
    """A build is short and makes millions of small objects: looking for cycles among them takes over a tenth of its time."""
    if command == "build":
        gc.disable()


def on_config(config: Any) -> Any:
    """Generate, and point MkDocs at what was generated. The builds that the language plugin makes inside the first one do not."""
    if not _inner(config):
        try:
            config.docs_dir = str(generate(_log.info))
        except HarnessError as error:  # MkDocs prints its own errors as one line
            raise PluginError(str(error)) from None
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A specimen comes before the pages of checks that mention the same word as often."""
    if page.file.src_uri.startswith("bugs/"):
        page.meta.setdefault("search", {}).setdefault("boost", _SPECIMENS_FIRST)
    return markdown


# After the language plugin has put all languages into one index.
@event_priority(-100)  # type: ignore[untyped-decorator]
def on_post_build(config: Any) -> None:
    """Divide the search index, once all languages are built."""
    if not _inner(config):
        search.divide(Path(config.site_dir))


def _inner(config: Any) -> bool:
    return bool(getattr(config.plugins.get("i18n"), "building", False))
