"""MkDocs hook: before a build, write the folder it is made from. So `mkdocs build` and `mkdocs serve` need nothing else."""

from __future__ import annotations

import logging
from typing import Any

from harness.site.generate import generate

_log = logging.getLogger("mkdocs.hooks.zoo")


def on_config(config: Any) -> Any:
    """Generate, and point MkDocs at what was generated."""
    config.docs_dir = str(generate(_log.info))
    return config
