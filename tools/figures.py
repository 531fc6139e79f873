"""Put the reproduction part of `make bench` documents onto the site's page of figures: `python tools/figures.py build/bench.json ...`

Of several documents a later one counts where two have measured the same script.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "docs" / "figures.json"
# Times are left out: they belong to the machine, and to what else it did.
_SHOWN = ("held", "runs", "loss.last_mean", "evaluation.accuracy", "memory.resident_peak_bytes")


def main(names: list[str]) -> None:
    """Merge the documents and write `docs/figures.json`."""
    found = [json.loads(Path(name).read_text()) for name in names]
    rows = {key: {name: row[name] for name in _SHOWN if name in row} for one in found for key, row in one["reproduction"].items()}
    document = {"date": max(one["date"] for one in found), "versions": found[-1]["versions"], "cores": found[-1]["cores"],
                "reproduction": dict(sorted(rows.items()))}
    TARGET.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
