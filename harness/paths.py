"""Where the zoo's folders are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUGS = ROOT / "bugs"
SOLUTIONS = ROOT / "solutions"
ASSETS = ROOT / "assets"
